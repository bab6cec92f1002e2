/// What the `Host` of a request to the admin listener says.
package enum AdminHost {
    /// Whether a listener on loopback refuses it.
    ///
    /// A web page of `evil.example` can have that name lead to 127.0.0.1 (DNS rebinding): its requests then come from
    /// the operator's own browser, as requests of the page's own origin, and only `Host` tells them apart. An attacker
    /// cannot own the name `localhost` or an address. Clients other than browsers may leave it out.
    ///
    /// - Parameters:
    ///   - host: the value of the field; nil where there is none.
    ///   - own: the host that the listener is configured with.
    package static func isForeign(_ host: String?, own: String) -> Bool {
        guard let host, !host.isEmpty, !isLiteral(host) else { return false }
        var name = host.prefix { $0 != ":" }.lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        return name != "localhost" && !name.hasSuffix(".localhost") && name != own.lowercased()
    }

    /// Whether it is an IPv4 or IPv6 literal with or without a port.
    static func isLiteral(_ host: String) -> Bool {
        if host.hasPrefix("[") { return true }
        let name = host.prefix { $0 != ":" }
        guard let first = name.utf8.first, (0x30...0x39).contains(first) else { return false }
        return name.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }
}
