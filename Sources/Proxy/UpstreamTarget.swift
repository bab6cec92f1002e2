import EdgeCore
import NIOCore

/// The address of an upstream.
package struct UpstreamTarget: Sendable, Hashable {
    /// A host and port, or the path of a Unix socket.
    package enum Address: Sendable, Hashable {
        case host(String, port: Int)
        case unixSocket(String)
    }

    /// Where to connect.
    package let address: Address
    /// The place as named in log lines and metrics: only host and port, or the path of the socket.
    package let place: String
    /// Whether the connection uses TLS.
    package let isTLS: Bool
    /// The address, where it needs no resolver.
    let socketAddress: SocketAddress?
    /// Whether that address is on this machine.
    let isLocal: Bool
    /// The path that goes before every forwarded path, without a trailing slash.
    let basePath: [UInt8]

    /// Reads `http://HOST[:PORT][/PATH]`, `https://…` or `unix:/path`; nil for anything else. `http` and `https` are
    /// read without case, and a query or fragment is dropped. Without a port it is 80, or 443 with TLS.
    package init?(_ url: String) {
        if url.hasPrefix("unix:") {
            let path = String(url.dropFirst("unix:".count))
            guard path.hasPrefix("/") else { return nil }
            address = .unixSocket(path)
            place = Self.place(of: address)
            socketAddress = try? SocketAddress(unixDomainSocketPath: path)
            isLocal = true
            isTLS = false
            basePath = []
            return
        }
        let isTLS = url.lowercased().hasPrefix("https://")
        guard isTLS || url.lowercased().hasPrefix("http://") else { return nil }
        let rest = url.dropFirst(isTLS ? "https://".count : "http://".count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        var path = Array(rest[authority.endIndex...].prefix { $0 != "?" && $0 != "#" }.utf8)
        while path.last == UInt8(ascii: "/") { path.removeLast() }
        let (host, port) = Self.split(authority)
        guard let host, !host.isEmpty, !authority.contains("@") else { return nil }
        guard let port = port.isEmpty ? (isTLS ? 443 : 80) : UInt16(port).map(Int.init), port > 0 else { return nil }
        self.address = .host(host, port: port)
        self.place = Self.place(of: self.address)
        let address = try? SocketAddress(ipAddress: host, port: port)
        self.socketAddress = address
        self.isLocal = address.map(LocalConnection.isLocal) ?? false
        self.isTLS = isTLS
        self.basePath = path
    }

    /// The `Host` for a request that names none.
    package var authority: String {
        guard case .host(let host, let port) = address else { return "localhost" }
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isTLS ? 443 : 80) ? name : "\(name):\(port)"
    }

    private static func place(of address: Address) -> String {
        switch address {
        case .unixSocket(let path): "unix:\(path)"
        case .host(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// The name to verify and to ask for in TLS; nil for an address without one.
    package var serverName: String? {
        guard case .host(let host, _) = address, PackedAddress.bytes(of: host) == nil else { return nil }
        return host
    }

    private static func split(_ authority: Substring) -> (host: String?, port: Substring) {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return (nil, "") }
            let rest = authority[authority.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return (nil, "") }
            return (String(authority[authority.index(after: authority.startIndex)..<end]), rest.dropFirst())
        }
        guard let colon = authority.firstIndex(of: ":") else { return (String(authority), "") }
        return (String(authority[..<colon]), authority[authority.index(after: colon)...])
    }
}
