import EdgeCore

/// What is known of a connection before its first request arrives.
package struct ConnectionOrigin {
    /// The peer's address; nil for a Unix socket.
    var peer: [UInt8]?
    /// Whether the gateway itself terminated TLS.
    var isTLS: Bool
    /// Whether this is an HTTP/2 stream and not a connection of its own.
    var isStream: Bool
    /// The peer's address as text.
    let peerText: String
    /// Whether the peer is on this machine.
    package let isLoopback: Bool

    package init(peer: [UInt8]?, isTLS: Bool, isStream: Bool) {
        self.peer = peer
        self.isTLS = isTLS
        self.isStream = isStream
        self.peerText = peer.map { IPAddress.text(of: $0) } ?? "unix"
        self.isLoopback = IPAddress.isLoopback(peer)
    }
}
