import NIOCore

/// The request target that a proxy forwarded: a path with its query, or a whole http URI as some write it.
package struct ForwardedURI {
    /// The path.
    package let path: ByteBuffer
    /// The query without `?`; nil when there is none.
    package let query: [UInt8]?
    /// The host of a whole URI; nil for a path.
    package let host: [UInt8]?

    /// Reads the target; nil for a value that could not be in a request line. User information in front of the host is
    /// refused, since it hides which host is meant.
    ///
    /// - Parameter uri: bytes of the field, of which only visible ASCII without `#` is taken.
    package init?(_ uri: [UInt8]) {
        guard uri.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") }) else { return nil }
        var rest = uri[...]
        var host: [UInt8]?
        for scheme in ["http://", "https://"] where uri.starts(with: scheme.utf8) {
            rest = uri.dropFirst(scheme.utf8.count)
            let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            guard !authority.isEmpty, !authority.contains(UInt8(ascii: "@")) else { return nil }
            host = Array(authority)
            rest = rest.dropFirst(authority.count)
        }
        let path = rest.prefix { $0 != UInt8(ascii: "?") }
        guard path.first == UInt8(ascii: "/") || (host != nil && path.isEmpty) else { return nil }
        self.path = ByteBuffer(bytes: path)
        self.query = path.count < rest.count ? Array(rest.dropFirst(path.count + 1)) : nil
        self.host = host
    }
}
