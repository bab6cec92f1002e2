import CLibcrypto

/// Writes keys with libcrypto's encoders.
enum KeyEncoder {
    /// What is written: a SubjectPublicKeyInfo (RFC 5280 section 4.1) or a PKCS#8 PrivateKeyInfo (RFC 5958 section 2).
    enum Structure {
        case subjectPublicKeyInfo
        case privateKeyInfo
    }

    /// The encoding of a key. libcrypto's own copy is wiped before it is freed.
    ///
    /// - Parameters:
    ///   - form: ``CName/pem`` or ``CName/der``.
    ///   - passphrase: encrypts a private key; nil writes it in clear.
    /// - Throws: ``LibcryptoError/Code/passphrase`` for an empty passphrase, otherwise ``LibcryptoError/Code/failed``.
    static func encode(
        _ key: EVPKey, _ structure: Structure, _ form: CName, passphrase: [UInt8]? = nil
    ) throws(LibcryptoError) -> [UInt8] {
        let publicKey = OSSL_KEYMGMT_SELECT_ALL_PARAMETERS | OSSL_KEYMGMT_SELECT_PUBLIC_KEY
        let selection = structure == .privateKeyInfo ? publicKey | OSSL_KEYMGMT_SELECT_PRIVATE_KEY : publicKey
        let name: CName = structure == .privateKeyInfo ? .privateKeyInfo : .subjectPublicKeyInfo
        let context = try LibcryptoError.unwrap(
            OSSL_ENCODER_CTX_new_for_pkey(key.pointer, selection, form.pointer, name.pointer, nil),
            "OSSL_ENCODER_CTX_new_for_pkey")
        defer { OSSL_ENCODER_CTX_free(context) }
        if let passphrase {
            // libcrypto treats an empty passphrase as none and would write the key unencrypted.
            guard !passphrase.isEmpty else { throw LibcryptoError(.passphrase, "an empty passphrase protects nothing") }
            try LibcryptoError.check(
                OSSL_ENCODER_CTX_set_cipher(context, "AES-256-CBC", nil), "OSSL_ENCODER_CTX_set_cipher")
            try LibcryptoError.check(
                OSSL_ENCODER_CTX_set_passphrase(context, passphrase, passphrase.count),
                "OSSL_ENCODER_CTX_set_passphrase")
        }
        var data: UnsafeMutablePointer<UInt8>?
        var length = 0
        try LibcryptoError.check(OSSL_ENCODER_to_data(context, &data, &length), "OSSL_ENCODER_to_data")
        guard let data else { throw LibcryptoError(.failed, "OSSL_ENCODER_to_data gave nothing") }
        defer { CRYPTO_clear_free(data, length, #fileID, CInt(#line)) }
        return Array(UnsafeBufferPointer(start: data, count: length))
    }
}
