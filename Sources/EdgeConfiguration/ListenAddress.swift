/// A host and a port to listen on, or the path of a Unix socket.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// A name or an address (an IPv6 address without brackets); empty for a Unix socket.
    public var host: String
    /// The port. 0 lets the system choose one; a Unix socket has 0 as well.
    public var port: Int
    /// The absolute path of a Unix socket; nil for a host and port.
    public let path: String?

    /// A host and a port.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
        self.path = nil
    }

    /// A Unix socket. Its path may have at most 107 bytes.
    private init?(path: String) {
        let isPlain = path.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        guard path.hasPrefix("/"), !path.hasSuffix("/"), path.utf8.count <= 107, isPlain else { return nil }
        self.host = ""
        self.port = 0
        self.path = path
    }

    /// Reads `HOST:PORT`, `[IPv6]:PORT` and `unix:/PATH`.
    ///
    /// The host may not be left out: to listen on all addresses, write `0.0.0.0`.
    public init?(_ text: String) {
        if text.hasPrefix("unix:/") {
            self.init(path: String(text.dropFirst("unix:".count)))
            return
        }
        guard let colon = text.lastIndex(of: ":") else { return nil }
        var host = text[..<colon]
        let digits = text[text.index(after: colon)...].utf8
        guard (1...5).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(String(text[text.index(after: colon)...]))
        else { return nil }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { return nil }
        } else if host.contains(":") {
            return nil
        }
        let isHost = host.utf8.allSatisfy { byte in
            byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "@")
                && byte != UInt8(ascii: "[") && byte != UInt8(ascii: "]")
        }
        guard !host.isEmpty, isHost else { return nil }
        self.init(host: String(host), port: Int(port))
    }

    /// The address in the form that ``init(_:)`` reads.
    public var description: String {
        if let path { return "unix:\(path)" }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// The listener's authority in a URL. A Unix socket has none, so it is `localhost`: its clients are on this
    /// machine.
    public var authority: String { path == nil ? description : "localhost" }
}
