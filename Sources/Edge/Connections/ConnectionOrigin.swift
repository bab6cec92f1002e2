import EdgeCore

/// What is known of a connection before its first request arrives. Made when the connection is accepted, and the same
/// for all of its requests; forwarded fields do not change it.
package struct ConnectionOrigin {
    /// The peer's address; nil for a Unix socket.
    var peer: [UInt8]?
    /// Whether the gateway itself terminated TLS.
    var isTLS: Bool
    /// Whether this is an HTTP/2 stream and not a connection of its own. A stream has the peer and the certificate of
    /// its connection.
    var isStream: Bool
    /// The client's certificate.
    var certificate = PeerCertificate.notAsked
    /// The peer's address as text. `unix` for the peer of a Unix socket.
    let peerText: String
    /// The value of `X-Forwarded-For` where no other proxy has named a client: the peer, which on a Unix socket has no
    /// address.
    let forwardedFor: String
    /// Whether the peer is on this machine.
    package let isLoopback: Bool

    /// - Parameter peer: the address, 4 or 16 bytes; nil for a Unix socket.
    package init(peer: [UInt8]?, isTLS: Bool, isStream: Bool) {
        self.peer = peer
        self.isTLS = isTLS
        self.isStream = isStream
        let text = peer.map { PackedAddress.text(of: $0) }
        self.peerText = text ?? "unix"
        self.forwardedFor = text ?? "unknown"
        self.isLoopback = PackedAddress.countsAsLocal(peer: peer)
    }
}
