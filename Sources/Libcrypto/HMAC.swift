/// Message authentication with a keyed hash (RFC 2104).
package enum HMAC {
    /// HMAC-SHA256 of a message.
    ///
    /// - Parameter key: of any length; RFC 2104 section 3 advises at least 32 bytes for this digest.
    /// - Returns: 32 bytes. The process stops if libcrypto has no memory for it.
    package static func sha256(key: [UInt8], _ message: some Collection<UInt8>) -> [UInt8] {
        authenticate(.sha256, key: key, message)
    }

    /// The HMAC of a message, as long as the digest. For many messages under one key, ``HMACKey`` is cheaper.
    package static func authenticate(
        _ digest: DigestAlgorithm, key: [UInt8], _ message: some Collection<UInt8>
    ) -> [UInt8] {
        do throws(LibcryptoError) {
            return try HMACKey(digest, key: key).authenticate(message)
        } catch {
            // It fails only for lack of memory, and then there is no correct tag to return.
            preconditionFailure("EVP_MAC failed")
        }
    }
}
