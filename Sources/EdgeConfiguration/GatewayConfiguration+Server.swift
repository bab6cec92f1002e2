extension GatewayConfiguration {
    /// `server.*`: the listeners and what every connection must keep to.
    public struct Server: Sendable, Equatable {
        /// `server.listen`: the public listener, where port 0 picks one.
        public var listen = ListenAddress(host: "127.0.0.1", port: 8080)
        /// `server.admin`: health and metrics; nil opens none.
        public var admin: ListenAddress? = ListenAddress(host: "127.0.0.1", port: 9180)
        /// `server.socket_mode`: permissions of the files of Unix sockets listened on.
        public var socketMode: UInt32 = 0o660
        /// `server.threads`: event loops; nil takes as many as there are cores.
        public var threads: Int?
        /// `server.allowed_origins`: origins that may call besides our own, in serialised form.
        public var allowedOrigins: [String] = []
        /// `server.trusted_proxies`: addresses or CIDR blocks whose forwarded headers count, and `unix` for peers on a
        /// Unix socket.
        public var trustedProxies: [String] = []
        /// `server.proxy_protocol`: whether every connection begins with a PROXY protocol header.
        public var proxyProtocol = false
        /// `server.max_connections`: connections open at a time; nil for as many as the system takes.
        public var maxConnections: Int?
        /// `server.hosts`: names this gateway answers to; empty answers to any.
        public var hosts: [String] = []
        /// `server.tls`: nil serves plain HTTP.
        public var tls: TLS?
        /// `server.max_header`: bytes of a request's head.
        public var maxHeader = 32 * 1024
        /// `server.max_body`: bytes of a proxied body; nil streams any amount (API bodies have a bound of their own).
        public var maxBody: Int?
        /// `server.header_timeout`: time for a whole head to arrive.
        public var headerTimeout: Int64 = 10_000
        /// `server.idle_timeout`: how long a connection may lie unused.
        public var idleTimeout: Int64 = 75_000
        /// `server.drain`: how long requests under way may take once the server is told to stop.
        public var drain: Int64 = 20_000

        /// The defaults.
        public init() {}
    }

    /// `server.tls.*`: certificate chain and private key, as PEM files.
    public struct TLS: Sendable, Equatable {
        /// `server.tls.certificate`: the leaf first, then its intermediates.
        public var certificate: String
        /// `server.tls.key`.
        public var key: String

        /// A chain and its key.
        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }
}

/// A host and a port to listen on, or the path of a Unix socket.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// A name or an address, an IPv6 address without its brackets; empty for a Unix socket.
    public var host: String
    /// 0 lets the system pick, and stands for none where it is a Unix socket.
    public var port: Int
    /// The file of a Unix socket, from the root; nil for a host and port.
    public let path: String?

    /// A host and a port.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
        self.path = nil
    }

    /// A Unix socket. What the system takes as the name of one ends after 107 bytes.
    private init?(path: String) {
        let isPlain = path.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        guard path.hasPrefix("/"), !path.hasSuffix("/"), path.utf8.count <= 107, isPlain else { return nil }
        self.host = ""
        self.port = 0
        self.path = path
    }

    /// Reads `HOST:PORT`, `[IPv6]:PORT` and `unix:/PATH`.
    ///
    /// The host may not be left out: listening everywhere is said as `0.0.0.0`.
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

    /// As ``init(_:)`` reads it.
    public var description: String {
        if let path { return "unix:\(path)" }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// What stands for this listener in a URL. A Unix socket has no such name: its clients are on this machine.
    public var authority: String { path == nil ? description : "localhost" }
}
