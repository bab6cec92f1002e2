import Encodings
import IdentityProviders

/// A redirection URI (RFC 6749 section 3.1.2) that a client may register.
package struct RedirectURI: Sendable, Equatable {
    /// How the client receives the redirect.
    package enum Kind: Sendable, Equatable {
        /// A web server.
        case https
        /// `http` to a loopback IP literal. The port is that of the request (RFC 8252 section 7.3).
        case loopbackAddress
        /// `http` to `localhost`, compared exactly.
        case localhost
        /// A scheme that belongs to an app on the device (RFC 8252 section 7.1). It contains a dot.
        case privateScheme
    }

    /// The longest URI in bytes.
    package static let maximumBytes = 2048

    /// The URI as it was written.
    package let text: String
    /// How the client receives the redirect.
    package let kind: Kind
    /// What people are shown: host and port, or the scheme of an app.
    package let place: String
    /// Scheme, host, path and query without the port, to compare loopback addresses.
    private let withoutPort: String

    /// Reads a URI; nil if no client may register it.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty, bytes.count <= Self.maximumBytes,
            bytes.allSatisfy({ (0x21...0x7E).contains($0) && !"\"#<>\\^`{|}".utf8.contains($0) })
        else { return nil }
        if bytes.starts(with: "https:".utf8) || bytes.starts(with: "http:".utf8) {
            guard let url = EndpointURL(ResourceIdentifier.loweringOrigin(of: text)) else { return nil }
            let isV6 = url.host.utf8.contains(UInt8(ascii: ":"))
            let host = isV6 ? "[\(url.host)]" : url.host
            if url.isHTTPS {
                kind = .https
            } else if url.host.utf8.elementsEqual("localhost".utf8) {
                kind = .localhost
            } else if url.address?.reach == .loopback {
                kind = .loopbackAddress
            } else {
                return nil
            }
            place = url.port == (url.isHTTPS ? 443 : 80) ? host : "\(host):\(url.port)"
            withoutPort = host + url.target
        } else {
            guard let scheme = Self.privateScheme(bytes) else { return nil }
            kind = .privateScheme
            place = scheme + ":"
            withoutPort = text
        }
        self.text = text
    }

    /// The scheme of an app: letters, digits, `+`, `-` and at least one inner dot, with something after the colon.
    private static func privateScheme(_ bytes: [UInt8]) -> String? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon + 1 < bytes.count else { return nil }
        let scheme = bytes[..<colon]
        guard let first = scheme.first, isLetter(first), scheme.contains(UInt8(ascii: ".")),
            scheme.last != UInt8(ascii: "."), scheme.count <= 128,
            scheme.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) })
        else { return nil }
        return String(decoding: scheme, as: UTF8.self)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    /// Whether a URI of a request is this registered one: byte by byte, except for the port of a loopback address.
    package func matches(_ presented: RedirectURI) -> Bool {
        if text.hasSameBytes(as: presented.text) { return true }
        return kind == .loopbackAddress && presented.kind == .loopbackAddress
            && withoutPort.hasSameBytes(as: presented.withoutPort)
    }

    /// The URI with parameters added to its query, each percent-encoded.
    package func adding(_ parameters: [FormParameter]) -> String {
        let separator =
            switch text.utf8.last {
            case UInt8(ascii: "?"), UInt8(ascii: "&"): ""
            default: text.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
            }
        return text + separator + FormText.encode(parameters)
    }

    /// Equality of the text.
    package static func == (a: Self, b: Self) -> Bool { a.text.hasSameBytes(as: b.text) }
}
