/// Opens the store that a URL names.
package enum StateSurfaceFactory {
    /// - Parameters:
    ///   - url: `sqlite:PATH`, `postgres://…` or `postgresql://…`
    ///   - sqliteGroup: how many writes that arrive together become one commit.
    package static func open(
        url: String, clock: @escaping @Sendable () -> Milliseconds, sqliteGroup: Int = 256
    ) async throws -> any StateSurface {
        if url.hasPrefix("sqlite:") {
            return SQLSurface(engine: try SQLiteEngine(url: url, group: sqliteGroup), clock: clock)
        }
        if url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") {
            return SQLSurface(engine: try await PostgresEngine(url: url), clock: clock)
        }
        // The URL may hold a password: it is not repeated.
        throw StateSurfaceError(.misconfigured, "the state URL must be sqlite:PATH or postgres://HOST/DATABASE")
    }

    /// The file of an embedded store that is not there yet: opening it would make a new one. nil where there is a store,
    /// or where only opening can tell; an error where it can't be looked at.
    package static func missingFile(url: String) throws(StateSurfaceError) -> String? {
        guard url.hasPrefix("sqlite:"), let path = try? SQLiteFile.path(ofURL: url) else { return nil }
        return try SQLiteFile.isMissing(path) ? path : nil
    }
}
