/// Where a connection is made to.
enum DoctorTarget: Sendable, Equatable {
    case host(String, port: Int)
    case path(String)

    /// Reads `http://…`, `https://…` and `unix:/…`; nil for anything else.
    init?(_ text: String) {
        if text.hasPrefix("unix:/") {
            self = .path(String(text.dropFirst("unix:".count)))
            return
        }
        guard let url = URLText(text), url.isHTTP else { return nil }
        let host = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
        self = .host(host, port: Int(url.port ?? (url.scheme == "https" ? 443 : 80)))
    }
}
