/// The parts of a URL that the configuration needs. Nothing is decoded.
struct URLText: Sendable, Equatable {
    /// In lower case; never empty.
    let scheme: String
    /// What stands before the `@`: a name, perhaps with a password. Nil where there is no `@`.
    let userInformation: String?
    /// The host in lower case; an IPv6 address has its brackets.
    let host: String
    /// As it is written; nil for the scheme's default.
    let port: UInt16?
    /// From the first slash on, with its escapes; empty where there is none.
    let path: String
    /// Without its `?`; nil where there is none, empty behind a lone one.
    let query: String?
    /// Without its `#`; nil where there is none.
    let fragment: String?

    /// Parses a URL; nil unless it is `scheme://host…` in visible ASCII.
    init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }),
            let mark = text.firstRange(of: "://")
        else { return nil }
        let scheme = text[..<mark.lowerBound]
        guard let first = scheme.first, first.isASCII, first.isLetter,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return nil }
        var rest = text[mark.upperBound...]
        fragment = Self.cutTail(of: &rest, at: "#")
        query = Self.cutTail(of: &rest, at: "?")
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        path = String(rest[slash...])
        var authority = rest[..<slash]
        if let at = authority.lastIndex(of: "@") {
            userInformation = String(authority[..<at])
            authority = authority[authority.index(after: at)...]
        } else {
            userInformation = nil
        }
        guard let (host, port) = Self.hostAndPort(authority) else { return nil }
        self.scheme = scheme.lowercased()
        self.host = host
        self.port = port
    }

    /// `scheme://host[:port]`, without the default port of the scheme.
    var origin: String {
        let implied: UInt16? = scheme == "https" ? 443 : scheme == "http" ? 80 : nil
        guard let port, port != implied else { return "\(scheme)://\(host)" }
        return "\(scheme)://\(host):\(port)"
    }

    /// Whether a client of HTTP can send there.
    var isHTTP: Bool { scheme == "http" || scheme == "https" }

    /// Removes what stands behind the first `mark`, which is removed, too, and returns it; nil where there is no mark.
    private static func cutTail(of text: inout Substring, at mark: Character) -> String? {
        guard let position = text.firstIndex(of: mark) else { return nil }
        defer { text = text[..<position] }
        return String(text[text.index(after: position)...])
    }

    /// Host, in brackets if it is an IPv6 address, and port; nil where they can't be read.
    private static func hostAndPort(_ authority: Substring) -> (String, UInt16?)? {
        var host = authority
        var port: UInt16?
        let closing = authority.lastIndex(of: "]") ?? authority.startIndex
        if let colon = authority[closing...].lastIndex(of: ":") {
            let digits = authority[authority.index(after: colon)...]
            guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = UInt16(digits) else { return nil }
            port = number
            host = authority[..<colon]
        }
        if host.hasPrefix("[") {
            guard host.hasSuffix("]"), NetworkText.isIPv6(String(host.dropFirst().dropLast())) else { return nil }
        } else {
            guard NetworkText.isHostName(host) else { return nil }
        }
        return (host.lowercased(), port)
    }
}

extension URLText {
    /// The text with passwords removed: that of the authority, and those in the query.
    static func redacted(_ text: String) -> String {
        guard let mark = text.firstRange(of: "://") else { return text }
        var shown = String(text[..<mark.upperBound])
        var rest = text[mark.upperBound...]
        // The last @ ends the user information, because a password may contain an unescaped slash or question mark.
        if let at = rest.lastIndex(of: "@"), let colon = rest[..<at].firstIndex(of: ":") {
            shown += rest[..<colon] + ":redacted"
            rest = rest[at...]
        }
        return shown + redactedQuery(of: rest, hides: isSecretName)
    }

    /// A URL or path without user information, the values of its query and its fragment. In the URLs of other services
    /// the names of parameters do not tell which values are secret.
    static func withoutValues(_ text: String) -> String {
        guard let mark = text.firstRange(of: "://"), !text[..<mark.lowerBound].contains(where: { "/?#".contains($0) })
        else { return redactedQuery(of: text[...]) { _ in true } }
        var shown = String(text[..<mark.upperBound])
        var rest = text[mark.upperBound...]
        // The last @ of all, as in `redacted`: hiding a part of the host is better than showing a part of a password.
        if let at = rest.lastIndex(of: "@") {
            shown += "redacted"
            rest = rest[at...]
        }
        let fragment = cutTail(of: &rest, at: "#")
        return shown + redactedQuery(of: rest) { _ in true } + (fragment == nil ? "" : "#redacted")
    }

    /// A URL without its path and query: scheme, host and port. The path of a webhook may be all that keeps others from
    /// posting there.
    static func withoutPath(_ text: String) -> String {
        guard let url = URLText(text) else { return "redacted" }
        let isBare = (url.path.isEmpty || url.path == "/") && url.query == nil
        return isBare && url.userInformation == nil && url.fragment == nil ? text : "\(url.origin)/redacted"
    }

    /// The text with `redacted` in place of the values of such parameters.
    private static func redactedQuery(of text: Substring, hides: (Substring) -> Bool) -> String {
        var rest = text
        guard let query = cutTail(of: &rest, at: "?") else { return String(rest) }
        let pairs = query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            let name = pair.prefix { $0 != "=" }
            if !hides(name) { return String(pair) }
            return name.endIndex == pair.endIndex ? "redacted" : "\(name)=redacted"
        }
        return "\(rest)?\(pairs.joined(separator: "&"))"
    }

    /// Whether a parameter's name suggests that its value is a secret.
    private static func isSecretName(_ name: Substring) -> Bool {
        let lowered = name.lowercased()
        return ["password", "secret", "token", "key"].contains { lowered.contains($0) }
    }
}
