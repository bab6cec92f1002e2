/// Where a store is, as `state.url` says it.
package enum StoreURL: Sendable, Equatable {
    /// `sqlite:` and what follows, which names a file.
    case sqlite(path: String)
    /// `postgres://…` or `postgresql://…`, whole.
    case postgres(String)

    /// Reads a URL; nil for any other, and for a `sqlite:` without a path.
    package init?(_ text: String) {
        if text.utf8.starts(with: "sqlite:".utf8) {
            let path = String(text.dropFirst("sqlite:".count))
            if path.isEmpty { return nil }
            self = .sqlite(path: path)
        } else if ["postgres://", "postgresql://"].contains(where: { text.utf8.starts(with: $0.utf8) }) {
            self = .postgres(text)
        } else {
            return nil
        }
    }
}
