/// The address of the target, or of its key set, parsed from a URL and checked before anything is sent.
struct TargetURL {
    /// The name or address to connect to, an IPv6 address without its brackets.
    let host: String
    /// As written, or 80 for http and 443 for https.
    let port: Int
    /// `scheme://host[:port]`, without the scheme's default port.
    let origin: String
    /// The path and the query; nil if the URL has neither.
    let path: String?
    /// Whether the scheme is https.
    let isSecure: Bool

    /// Refuses what is no http or https URL, or has user information or a fragment.
    init(_ text: String, path: String?) throws(CommandFailure) {
        guard let url = URLText(text), url.userInformation == nil, url.fragment == nil, !url.host.isEmpty else {
            throw CommandFailure("\(URLText.withoutValues(text)): not a URL: write http://HOST:PORT", status: .misused)
        }
        guard url.isHTTP else {
            throw CommandFailure(
                "\(url.scheme): attacks go over http and https: write http://HOST:PORT", status: .misused)
        }
        isSecure = url.scheme == "https"
        // An IPv6 address has brackets in the Host field and none for connecting.
        host = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
        port = Int(url.port ?? (isSecure ? 443 : 80))
        origin = url.origin
        let query = url.query.map { "?" + $0 } ?? ""
        let own = (url.path.isEmpty ? "/" : url.path) + query
        self.path = path ?? (own == "/" ? nil : own)
        guard (self.path ?? "/").hasPrefix("/"), (self.path ?? "/").utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw CommandFailure("--path: it begins with a slash and holds visible ASCII only", status: .misused)
        }
    }

    /// The `Host` field.
    var authority: String { String(origin.dropFirst(isSecure ? "https://".count : "http://".count)) }
}
