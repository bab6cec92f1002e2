import CLibcrypto

/// One initialised signature operation, which is reused: initialising one costs a sixth of an RSA verification.
// @unchecked: `ContextPool` gives a context to one caller at a time.
final class SignatureContext: @unchecked Sendable {
    /// What the context was initialised for. The other operation must not be called on it.
    enum Operation { case sign, verify }

    private let key: EVPKey
    private let scheme: SignatureScheme
    /// Nil for schemes that hash the message themselves.
    private let operation: OpaquePointer?
    private let hashing: OpaquePointer
    private let hash: UnsafeMutablePointer<UInt8>

    /// Initialises the operation with padding, digest and, for RSASSA-PSS, a salt as long as the digest.
    ///
    /// - Throws: ``LibcryptoError/Code/failed`` if libcrypto refuses the combination or has no memory.
    init(_ key: EVPKey, _ scheme: SignatureScheme, _ direction: Operation) throws(LibcryptoError) {
        let hashing = try LibcryptoError.unwrap(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        do throws(LibcryptoError) {
            operation = try scheme.digest.map { digest throws(LibcryptoError) in
                try Self.prepare(key, scheme, digest, direction)
            }
        } catch {
            EVP_MD_CTX_free(hashing)
            throw error
        }
        self.key = key
        self.scheme = scheme
        self.hashing = hashing
        hash = .allocate(capacity: Int(EVP_MAX_MD_SIZE))
    }

    deinit {
        EVP_PKEY_CTX_free(operation)
        EVP_MD_CTX_free(hashing)
        hash.deallocate()
    }

    private static func prepare(
        _ key: EVPKey, _ scheme: SignatureScheme, _ digest: DigestAlgorithm, _ direction: Operation
    ) throws(LibcryptoError) -> OpaquePointer {
        let context = try LibcryptoError.unwrap(
            EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil), "EVP_PKEY_CTX_new_from_pkey")
        do throws(LibcryptoError) {
            let initialised = direction == .sign ? EVP_PKEY_sign_init(context) : EVP_PKEY_verify_init(context)
            try LibcryptoError.check(initialised, "EVP_PKEY_sign_init or verify_init")
            let implementation = digest.implementation
            if case .rsaPKCS1 = scheme {
                try LibcryptoError.check(
                    EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING), "EVP_PKEY_CTX_set_rsa_padding")
            }
            if case .rsaPSS = scheme {
                try LibcryptoError.check(
                    EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING), "EVP_PKEY_CTX_set_rsa_padding")
            }
            // Without it, the digest's identifier would not be part of a PKCS#1 signature (RFC 8017 section 9.2).
            try LibcryptoError.check(
                EVP_PKEY_CTX_set_signature_md(context, implementation), "EVP_PKEY_CTX_set_signature_md")
            if case .rsaPSS = scheme {
                try LibcryptoError.check(
                    EVP_PKEY_CTX_set_rsa_mgf1_md(context, implementation), "EVP_PKEY_CTX_set_rsa_mgf1_md")
                try LibcryptoError.check(
                    EVP_PKEY_CTX_set_rsa_pss_saltlen(context, CInt(digest.byteCount)),
                    "EVP_PKEY_CTX_set_rsa_pss_saltlen")
            }
            return context
        } catch {
            EVP_PKEY_CTX_free(context)
            throw error
        }
    }

    private func digest(_ message: UnsafeBufferPointer<UInt8>, _ algorithm: DigestAlgorithm) -> Bool {
        EVP_DigestInit_ex2(hashing, algorithm.implementation, nil) == 1
            && EVP_DigestUpdate(hashing, message.baseAddress, message.count) == 1
            && EVP_DigestFinal_ex(hashing, hash, nil) == 1
    }

    // MARK: Verify

    /// Whether `signature`, in libcrypto's encoding, is valid. Only the result 1 is: libcrypto returns 0 and negative
    /// numbers for all others.
    ///
    /// A failure leaves the context usable for the next signature.
    func verify(_ signature: UnsafeBufferPointer<UInt8>, _ message: UnsafeBufferPointer<UInt8>) -> Bool {
        let result: CInt
        if let operation, let algorithm = scheme.digest {
            guard digest(message, algorithm) else { return failed() }
            result = EVP_PKEY_verify(
                operation, signature.baseAddress, signature.count, hash, algorithm.byteCount)
        } else {
            guard EVP_MD_CTX_reset(hashing) == 1,
                EVP_DigestVerifyInit(hashing, nil, nil, nil, key.pointer) == 1
            else { return failed() }
            result = EVP_DigestVerify(
                hashing, signature.baseAddress, signature.count, message.baseAddress, message.count)
        }
        return result == 1 ? true : failed()
    }

    /// Empties the error queue, which would otherwise be taken for the failure of a later call.
    private func failed() -> Bool {
        ERR_clear_error()
        return false
    }

    // MARK: Sign

    /// Writes the signature in libcrypto's encoding and returns its length.
    ///
    /// - Parameter out: room for `EVP_PKEY_get_size` bytes of the key, which is also the longest DER of an ECDSA
    ///   signature.
    /// - Throws: ``LibcryptoError/Code/failed``.
    func sign(
        _ message: UnsafeBufferPointer<UInt8>, into out: UnsafeMutableBufferPointer<UInt8>
    ) throws(LibcryptoError) -> Int {
        var length = out.count
        if let operation, let algorithm = scheme.digest {
            guard digest(message, algorithm) else { throw LibcryptoError(.failed, "the digest failed") }
            try LibcryptoError.check(
                EVP_PKEY_sign(operation, out.baseAddress, &length, hash, algorithm.byteCount), "EVP_PKEY_sign")
        } else {
            try LibcryptoError.check(EVP_MD_CTX_reset(hashing), "EVP_MD_CTX_reset")
            try LibcryptoError.check(
                EVP_DigestSignInit(hashing, nil, nil, nil, key.pointer), "EVP_DigestSignInit")
            try LibcryptoError.check(
                EVP_DigestSign(hashing, out.baseAddress, &length, message.baseAddress, message.count),
                "EVP_DigestSign")
        }
        return length
    }
}
