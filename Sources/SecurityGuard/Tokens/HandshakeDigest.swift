import Libcrypto

/// The digest for the WebSocket handshake, for modules that do not import libcrypto.
package enum HandshakeDigest {
    /// SHA-1 for `Sec-WebSocket-Accept` (RFC 6455 section 4.2.2).
    package static func sha1(_ bytes: [UInt8]) -> [UInt8] { Digest.handshakeSHA1(bytes) }
}
