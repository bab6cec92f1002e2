import Libcrypto

/// The one digest of the WebSocket handshake, lent to the edge, which sees no libcrypto.
package enum HandshakeDigest {
    /// SHA-1 as RFC 6455 section 4.2.2 asks for it.
    package static func sha1(_ bytes: [UInt8]) -> [UInt8] { Digest.handshakeSHA1(bytes) }
}
