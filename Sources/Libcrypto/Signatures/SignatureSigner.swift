import CLibcrypto

/// Signs with one key under one scheme; safe to call from any thread.
package final class SignatureSigner: Sendable {
    private let scheme: SignatureScheme
    private let kind: KeyKind
    private let capacity: Int
    private let pool: ContextPool<SignatureContext>

    /// Prepares a key for a scheme.
    ///
    /// - Throws: ``LibcryptoError/Code/unsupportedKey`` if the key does not fit the scheme.
    package init(_ key: PrivateKey, _ scheme: SignatureScheme) throws(LibcryptoError) {
        guard scheme.fits(key.kind) else {
            throw LibcryptoError(.unsupportedKey, "a key that does not fit the signature algorithm")
        }
        self.scheme = scheme
        kind = key.kind
        capacity = max(Int(EVP_PKEY_get_size(key.key.pointer)), ECDSAEncoding.maximumDERByteCount)
        let evpKey = key.key
        pool = try ContextPool { () throws(LibcryptoError) in try SignatureContext(evpKey, scheme, .sign) }
    }

    /// The signature of `message`, in JOSE's encoding (RFC 7518 section 3).
    ///
    /// Signing with RSA or ML-DSA takes long enough to delay an event loop; this function does not change threads.
    ///
    /// - Parameter message: the bytes to be signed, not their digest.
    /// - Returns: as many bytes as ``PublicKey/signatureByteCount`` of the key.
    /// - Throws: ``LibcryptoError/Code/failed``.
    package func sign(_ message: some Collection<UInt8>) throws(LibcryptoError) -> [UInt8] {
        let result: Result<[UInt8], LibcryptoError> = try pool.with { context in
            withBuffer(message) { message in
                do throws(LibcryptoError) {
                    return .success(try sign(message, context))
                } catch {
                    return .failure(error)
                }
            }
        }
        return try result.get()
    }

    private func sign(
        _ message: UnsafeBufferPointer<UInt8>, _ context: SignatureContext
    ) throws(LibcryptoError) -> [UInt8] {
        guard case .ec(let curve) = kind else {
            var failure: LibcryptoError?
            let signature = [UInt8](unsafeUninitializedCapacity: capacity) { out, written in
                do throws(LibcryptoError) {
                    written = try context.sign(message, into: out)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            return signature
        }
        // libcrypto writes ECDSA signatures as DER, which is converted here.
        let result = withUnsafeTemporaryAllocation(
            of: UInt8.self, capacity: capacity
        ) { der -> Result<[UInt8]?, LibcryptoError> in
            do throws(LibcryptoError) {
                let length = try context.sign(message, into: der)
                return .success(
                    ECDSAEncoding.raw(
                        fromDER: UnsafeBufferPointer(rebasing: der.prefix(length)),
                        coordinateByteCount: curve.coordinateByteCount))
            } catch {
                return .failure(error)
            }
        }
        return try LibcryptoError.unwrap(try result.get(), "EVP_PKEY_sign gave no DER")
    }
}
