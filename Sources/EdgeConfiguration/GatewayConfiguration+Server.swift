extension GatewayConfiguration {
    /// `server.*`: the listeners and the limits of every connection.
    public struct Server: Sendable, Equatable {
        /// `server.listen`: the public listener. Port 0 lets the system choose a port.
        public var listen = ListenAddress(host: "127.0.0.1", port: 8080)
        /// `server.admin`: the listener for health and metrics; nil for none.
        public var admin: ListenAddress? = ListenAddress(host: "127.0.0.1", port: 9180)
        /// `server.socket_mode`: the permissions of the Unix socket files that the gateway listens on.
        public var socketMode: UInt32 = 0o660
        /// `server.threads`: the number of event loops; nil for one per core.
        public var threads: Int?
        /// `server.allowed_origins`: web origins that may use the gateway besides its own, in serialised form.
        public var allowedOrigins: [String] = []
        /// `server.trusted_proxies`: addresses or CIDR blocks whose forwarded headers count, and `unix` for peers on a
        /// Unix socket.
        public var trustedProxies: [String] = []
        /// `server.proxy_protocol`: whether every connection begins with a PROXY protocol header.
        public var proxyProtocol = false
        /// `server.max_connections`: how many connections may be open at a time; nil for no limit of the gateway.
        public var maxConnections: Int?
        /// `server.hosts`: the host names that the gateway serves; empty for any.
        public var hosts: [String] = []
        /// `server.tls`: nil serves plain HTTP.
        public var tls: TLS?
        /// `server.max_header`: the most bytes of a request's head.
        public var maxHeader = 32 * 1024
        /// `server.max_body`: the most bytes of a proxied body; nil for no limit (bodies for the API have a limit of
        /// their own).
        public var maxBody: Int?
        /// `server.header_timeout`: time for a whole head to arrive.
        public var headerTimeout: Int64 = 10_000
        /// `server.idle_timeout`: how long a connection may be idle.
        public var idleTimeout: Int64 = 75_000
        /// `server.drain`: how long running requests may take once the server is told to stop.
        public var drain: Int64 = 20_000
        /// `server.watch`: whether a changed configuration file is applied by itself. The executable `gatehouse` does
        /// that; a `Gateway` in another program knows of no such file and refuses it.
        public var watch = false
        /// `server.reuse_port`: whether another process may listen on the same port.
        public var reusePort = false

        /// The defaults.
        public init() {}
    }

    /// `server.tls.*`: certificate chain and private key, as PEM files.
    public struct TLS: Sendable, Equatable {
        /// `server.tls.certificate`: the leaf first, then its intermediates.
        public var certificate: String
        /// `server.tls.key`: the private key.
        public var key: String
        /// `server.tls.certificates`: the certificates for clients that ask for one of these hosts (SNI).
        public var certificates: [NamedCertificate] = []
        /// `server.tls.client_ca`: the PEM file of the authorities whose client certificates are accepted; nil where no
        /// client is asked for one.
        public var clientCA: String?

        /// A chain and its key.
        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }
}

extension GatewayConfiguration {
    /// One entry of `server.tls.certificates`.
    public struct NamedCertificate: Sendable, Equatable {
        /// The names in the handshake (SNI) for which it is used, in lower case. `*.example.com` stands for all names
        /// with one label more.
        public var hosts: [String]
        /// The PEM file of the chain: the leaf first, then its intermediates.
        public var certificate: String
        /// The PEM file of the private key.
        public var key: String

        /// A chain and its key for these hosts.
        public init(hosts: [String], certificate: String, key: String) {
            self.hosts = hosts
            self.certificate = certificate
            self.key = key
        }
    }
}
