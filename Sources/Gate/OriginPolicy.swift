import Answers
import HTTPWire

/// Which web origins may use the gateway.
///
/// The list comes from the configuration and the issuer, never from `Host`. Comparison is byte by byte, as browsers
/// serialise origins in one way only (RFC 6454 section 6.2).
package struct OriginPolicy: Sendable {
    /// Origins in their serialised form, for example `https://app.example`.
    package let allowed: Set<[UInt8]>
    /// The gateway's own origins.
    private let own: Set<[UInt8]>

    /// - Parameters:
    ///   - configured: `server.allowed_origins`.
    ///   - issuer: `tokens.issuer`; its origin is the gateway's own.
    ///   - loopbackPort: the port of a loopback listener, whose local names are the gateway's own as well.
    package init(configured: [String], issuer: String, loopbackPort: Int?) {
        var origins: [String] = []
        if let own = Self.origin(of: issuer) { origins.append(own) }
        if let port = loopbackPort {
            let suffix = port == 80 ? "" : ":\(port)"
            origins += ["localhost", "127.0.0.1", "[::1]"].map { "http://\($0)\(suffix)" }
        }
        self.own = Set(origins.map { Array((Self.origin(of: $0) ?? $0).utf8) })
        origins += configured
        self.allowed = Set(origins.map { Array((Self.origin(of: $0) ?? $0).utf8) })
    }

    /// Whether this serialised origin is on the list.
    package func allows(_ origin: some Collection<UInt8>) -> Bool {
        allowed.contains(Array(origin))
    }

    /// Refuses an unsafe request from another origin, and a cross-site one that names none.
    ///
    /// - Throws: `origin_refused`; its detail names the origin and the key that would allow it.
    func requireAllowed(origin: [UInt8]?, originCount: Int, fetchSite: [UInt8]?) throws(Problem) {
        if originCount > 1 { throw Problem(.originRefused, detail: "More than one Origin was sent.") }
        if let origin {
            guard !allows(origin) else { return }
            throw Problem(
                .originRefused,
                detail: "Origin '\(Self.printable(origin))' is not allowed. "
                    + "Add it to server.allowed_origins if it should be.")
        }
        if let fetchSite, fetchSite.elementsEqual("cross-site".utf8) {
            throw Problem(
                .originRefused,
                detail: "A cross-site request without an allowed Origin. Add the site to server.allowed_origins.")
        }
    }

    /// Refuses a form that no page of the gateway itself has sent. Pages that send no referrer have the origin `null`.
    ///
    /// - Throws: `origin_refused`.
    package func requireOwn(_ head: RequestHead) throws(Problem) {
        let isSameSite = head.first(.secFetchSite).map { head.equals($0.value, "same-origin") }
        // Browsers send the origin of a form.
        guard let field = head.first(.origin) else { throw Self.foreignForm }
        let origin = head.withBytes(field.value) { Array($0) }
        let isOwn = own.contains(origin) || (origin.elementsEqual("null".utf8) && isSameSite == true)
        guard head.count(.origin) == 1, isOwn else { throw Self.foreignForm }
    }

    private static let foreignForm = Problem(
        .originRefused, detail: "Only a page of this server may send this form.")

    /// The serialised origin of a URL: scheme, host, and the port where it isn't the scheme's default.
    package static func origin(of url: String) -> String? {
        guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else { return nil }
        let scheme = url[..<colon].lowercased()
        let authority = url[colon...].dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }.lowercased()
        guard !scheme.isEmpty, !authority.isEmpty, !authority.contains("@") else { return nil }
        let standardPort = ["http": ":80", "https": ":443"][scheme]
        if let standardPort, authority.hasSuffix(standardPort) {
            return "\(scheme)://\(authority.dropLast(standardPort.count))"
        }
        return "\(scheme)://\(authority)"
    }

    private static func printable(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.prefix(200).map { (0x21...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
