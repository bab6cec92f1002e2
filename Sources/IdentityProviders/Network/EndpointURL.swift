import Encodings

/// An absolute `https` or `http` URL of a provider (RFC 3986), read so strictly that it has one reading.
///
/// No user information, no fragment, no white space, no character that some parser takes for another; the host is a
/// name in ASCII letters (international names as A-labels), an IPv4 address of four decimal numbers, or an IPv6 address
/// in brackets. Anything else is no endpoint.
package struct EndpointURL: Sendable, Equatable, CustomStringConvertible {
    /// The longest URL that is read, in bytes.
    package static let maximumBytes = 2048

    /// The URL as it was written.
    package let text: String
    /// Whether the scheme is `https`.
    package let isHTTPS: Bool
    /// The host, without the brackets of an IPv6 address.
    package let host: String
    /// The port, which is the scheme's where none was written.
    package let port: Int
    /// Path and query as they were written; empty if there is neither.
    package let target: String

    /// Reads a URL; nil if it is none of these.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumBytes, bytes.allSatisfy(Self.isURLByte) else { return nil }
        let start: Int
        if bytes.starts(with: "https://".utf8) {
            isHTTPS = true
            start = 8
        } else if bytes.starts(with: "http://".utf8) {
            isHTTPS = false
            start = 7
        } else {
            return nil
        }
        let rest = bytes[start...]
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        guard let authority = Authority(Array(rest[..<end])) else { return nil }
        self.text = text
        host = authority.host
        port = authority.port ?? (isHTTPS ? 443 : 80)
        target = String(decoding: rest[end...], as: UTF8.self)
    }

    /// The URL as it was written.
    package var description: String { text }

    /// The address that the host is, if it is one and not a name.
    package var address: IPAddress? { IPAddress(host) }

    /// Whether the host is this machine: a loopback address, or `localhost`.
    package var isLoopback: Bool {
        if let address { return address.reach == .loopback }
        return host.utf8.elementsEqual("localhost".utf8)
    }

    /// Whether what is sent there can't be read on the way: `https`, or `http` that does not leave the machine.
    package var isSecure: Bool { isHTTPS || isLoopback }

    /// Whether there is a query.
    package var hasQuery: Bool { target.utf8.contains(UInt8(ascii: "?")) }

    /// The URL with parameters behind those it has already (RFC 6749 §3.1), each percent-encoded.
    package func adding(_ parameters: [FormParameter]) -> String {
        guard !parameters.isEmpty else { return text }
        let separator =
            switch text.utf8.last {
            case UInt8(ascii: "?"), UInt8(ascii: "&"): ""
            default: hasQuery ? "&" : "?"
            }
        return text + separator + FormText.encode(parameters)
    }

    /// Equality of what was written.
    package static func == (left: Self, right: Self) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    /// Visible ASCII without what RFC 3986 has no place for, `#` and `\` among them.
    private static func isURLByte(_ byte: UInt8) -> Bool {
        guard (0x21...0x7E).contains(byte) else { return false }
        return !"\"#<>\\^`{|}".utf8.contains(byte)
    }
}

/// Host and port of a URL.
private struct Authority {
    let host: String
    let port: Int?

    init?(_ bytes: [UInt8]) {
        var hostBytes = bytes[...]
        var portBytes: ArraySlice<UInt8>?
        let isBracketed = bytes.first == UInt8(ascii: "[")
        let from = isBracketed ? bytes.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? bytes.endIndex : 0
        if let colon = bytes[from...].firstIndex(of: UInt8(ascii: ":")) {
            hostBytes = bytes[..<colon]
            portBytes = bytes[(colon + 1)...]
        }
        if isBracketed {
            guard hostBytes.count > 2, hostBytes.last == UInt8(ascii: "]") else { return nil }
            let inner = String(decoding: hostBytes.dropFirst().dropLast(), as: UTF8.self)
            guard case .v6? = IPAddress(inner) else { return nil }
            host = inner
        } else {
            let text = String(decoding: hostBytes, as: UTF8.self)
            guard Self.isName(hostBytes) || IPAddress(text) != nil else { return nil }
            host = text
        }
        guard let portBytes else {
            port = nil
            return
        }
        guard (1...5).contains(portBytes.count), portBytes.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(String(decoding: portBytes, as: UTF8.self)), (1...65_535).contains(number)
        else { return nil }
        port = number
    }

    /// Labels of lower-case letters, digits and hyphens; the last one begins with a letter, so that nothing is a name
    /// here and a number elsewhere (`2130706433`, `0x7f.1`).
    private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard (1...253).contains(bytes.count) else { return false }
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let first = labels.last?.first, (0x61...0x7A).contains(first) else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
                && label.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        }
    }
}
