import CLibcrypto

/// An HMAC key prepared for one digest, for callers that authenticate many messages. Safe to use from any thread.
package final class HMACKey: Sendable {
    /// The digest in use.
    package let digest: DigestAlgorithm
    private let template: MACContext

    /// Prepares a key of any length, also empty. The bytes are copied into libcrypto.
    ///
    /// - Throws: ``LibcryptoError/Code/failed`` if libcrypto has no memory or no such digest.
    package init(_ digest: DigestAlgorithm, key: [UInt8]) throws(LibcryptoError) {
        self.digest = digest
        template = try MACContext(digest, key: key)
    }

    /// The tag of a message.
    ///
    /// - Returns: ``DigestAlgorithm/byteCount`` bytes.
    package func authenticate(_ message: some Collection<UInt8>) throws(LibcryptoError) -> [UInt8] {
        let tag =
            message.withContiguousStorageIfAvailable { template.tag(of: $0, count: digest.byteCount) }
            ?? Array(message).withUnsafeBufferPointer { template.tag(of: $0, count: digest.byteCount) }
        return try LibcryptoError.unwrap(tag, "EVP_MAC")
    }

    /// A new HMAC-SHA-256 key of 32 random bytes, for tags that are checked only by the process that made them.
    package static func ephemeral() -> HMACKey {
        do throws(LibcryptoError) {
            return try HMACKey(.sha256, key: SecureRandom.bytes(32))
        } catch {
            // It fails only for lack of memory, and no caller can go on without the key.
            preconditionFailure("EVP_MAC failed")
        }
    }

    /// The tag of a message. Stops the process if libcrypto has no memory for it.
    package func tag(of message: some Collection<UInt8>) -> [UInt8] {
        do throws(LibcryptoError) {
            return try authenticate(message)
        } catch {
            preconditionFailure("EVP_MAC failed")
        }
    }

    /// Whether `tag` is the complete tag of the message, compared in constant time. False also if the tag cannot be
    /// computed.
    package func isValid(_ tag: [UInt8], for message: some Collection<UInt8>) -> Bool {
        do throws(LibcryptoError) {
            return ConstantTime.equal(try authenticate(message), tag)
        } catch {
            return false
        }
    }
}

// @unchecked: after `init` the context is only duplicated, which does not change it.
private final class MACContext: @unchecked Sendable {
    private let pointer: OpaquePointer

    init(_ digest: DigestAlgorithm, key: [UInt8]) throws(LibcryptoError) {
        let algorithm = try LibcryptoError.unwrap(EVP_MAC_fetch(nil, "HMAC", nil), "EVP_MAC_fetch")
        defer { EVP_MAC_free(algorithm) }
        pointer = try LibcryptoError.unwrap(EVP_MAC_CTX_new(algorithm), "EVP_MAC_CTX_new")
        // A null pointer means "keep the previous key", so an empty key needs an address.
        let result = withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { empty in
            key.withUnsafeBufferPointer { key in
                let bytes = key.baseAddress ?? UnsafePointer(empty.baseAddress?.assumingMemoryBound(to: UInt8.self))
                // The parameter keeps pointers to both strings, so it is used inside their closures.
                return OSSL_MAC_PARAM_DIGEST.withCString { parameter in
                    digest.name.withCString { name in
                        let parameters = [
                            OSSL_PARAM_construct_utf8_string(parameter, UnsafeMutablePointer(mutating: name), 0),
                            OSSL_PARAM_construct_end(),
                        ]
                        return EVP_MAC_init(pointer, bytes, key.count, parameters)
                    }
                }
            }
        }
        try LibcryptoError.check(result, "EVP_MAC_init")
    }

    deinit { EVP_MAC_CTX_free(pointer) }

    func tag(of message: UnsafeBufferPointer<UInt8>, count: Int) -> [UInt8]? {
        guard let copy = EVP_MAC_CTX_dup(pointer) else { return nil }
        defer { EVP_MAC_CTX_free(copy) }
        guard EVP_MAC_update(copy, message.baseAddress, message.count) == 1 else { return nil }
        var length = 0
        var succeeded = false
        let tag = [UInt8](unsafeUninitializedCapacity: count) { out, written in
            succeeded = EVP_MAC_final(copy, out.baseAddress, &length, count) == 1 && length == count
            if succeeded { written = count }
        }
        return succeeded ? tag : nil
    }
}
