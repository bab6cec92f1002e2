import CLibcrypto

/// Verifies signatures with one key under one scheme; safe to call from any thread.
package final class SignatureVerifier: Sendable {
    /// The exact length of a signature in bytes.
    package let signatureByteCount: Int
    private let scheme: SignatureScheme
    private let pool: ContextPool<SignatureContext>

    /// Prepares a key for a scheme.
    ///
    /// The first ``SignatureContext`` is made here; more are made when several threads verify at the same time.
    /// - Throws: ``LibcryptoError/Code/unsupportedKey`` if the key does not fit the scheme, or
    ///   ``LibcryptoError/Code/algorithmUnavailable``.
    package init(_ key: PublicKey, _ scheme: SignatureScheme) throws(LibcryptoError) {
        guard scheme.fits(key.kind) else {
            throw LibcryptoError(.unsupportedKey, "a key that does not fit the signature algorithm")
        }
        try key.kind.requireAvailable()
        self.scheme = scheme
        signatureByteCount = key.signatureByteCount
        let evpKey = key.key
        pool = try ContextPool { () throws(LibcryptoError) in try SignatureContext(evpKey, scheme, .verify) }
    }

    /// Whether `signature`, in JOSE's encoding, is valid for `message`. False also if libcrypto cannot verify it for
    /// lack of memory.
    ///
    /// - Parameters:
    ///   - signature: exactly ``signatureByteCount`` bytes; any other length is invalid. For ECDSA r‖s, not DER.
    ///   - message: the bytes that were signed, not their digest.
    package func isValid(_ signature: some Collection<UInt8>, for message: some Collection<UInt8>) -> Bool {
        withBuffer(signature) { signature in
            withBuffer(message) { message in isValid(buffer: signature, for: message) }
        }
    }

    /// Whether `signature`, in JOSE's encoding, is valid for `message`, without copying either.
    package func isValid(
        buffer signature: UnsafeBufferPointer<UInt8>, for message: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard signature.count == signatureByteCount else { return false }
        do throws(LibcryptoError) {
            return try pool.with { context in verify(signature, message, context) }
        } catch {
            return false
        }
    }

    /// Whether `signature`, in the encoding of X.509 and WebAuthn, is the key's over `message`.
    ///
    /// For ECDSA that is the DER of r and s, which libcrypto reads and accepts in its one spelling only; for the others
    /// it is JOSE's.
    package func isValid(derSignature signature: [UInt8], for message: [UInt8]) -> Bool {
        guard case .ecdsa = scheme else { return isValid(signature, for: message) }
        guard (1...ECDSAEncoding.maximumDERByteCount).contains(signature.count) else { return false }
        do throws(LibcryptoError) {
            return try pool.with { context in
                withBuffer(signature) { signature in
                    withBuffer(message) { message in context.verify(signature, message) }
                }
            }
        } catch {
            return false
        }
    }

    private func verify(
        _ signature: UnsafeBufferPointer<UInt8>, _ message: UnsafeBufferPointer<UInt8>, _ context: SignatureContext
    ) -> Bool {
        guard case .ecdsa = scheme else { return context.verify(signature, message) }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: ECDSAEncoding.maximumDERByteCount) { der in
            let length = ECDSAEncoding.writeDER(signature, to: der)
            return context.verify(UnsafeBufferPointer(rebasing: der.prefix(length)), message)
        }
    }
}

extension PublicKey {
    /// The exact length of a signature in JOSE's encoding, in bytes.
    package var signatureByteCount: Int {
        switch kind {
        case .rsa(let bits): (bits + 7) / 8
        case .ec(let curve): curve.coordinateByteCount * 2
        case .ed25519: 64
        case .ed448: 114
        case .mldsa: Int(EVP_PKEY_get_size(key.pointer))
        }
    }
}

/// Runs `body` with the bytes of a collection in contiguous memory; they are copied only if they are not contiguous.
func withBuffer<Result>(
    _ bytes: some Collection<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
) -> Result {
    bytes.withContiguousStorageIfAvailable(body) ?? Array(bytes).withUnsafeBufferPointer(body)
}
