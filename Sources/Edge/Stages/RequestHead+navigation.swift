import HTTPWire

extension RequestHead {
    /// Whether a browser asks for a page that it will show: `Sec-Fetch-Mode: navigate`, or from browsers without that
    /// field, `Accept` with `text/html`.
    var isNavigation: Bool {
        guard knownMethod == .get || knownMethod == .head, !upgradeOffered else { return false }
        if let mode = first(.secFetchMode) { return equals(mode.value, "navigate") }
        return first(.accept).map { string($0.value).lowercased().contains("text/html") } ?? false
    }
}
