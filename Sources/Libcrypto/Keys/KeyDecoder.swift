import CLibcrypto

/// A key read from PEM or DER: the public key alone, or the private key, which includes it.
package enum DecodedKey: Sendable {
    /// The input held a public key.
    case `public`(PublicKey)
    /// The input held a private key.
    case `private`(PrivateKey)

    /// The public half.
    package var publicKey: PublicKey {
        switch self {
        case .public(let key): key
        case .private(let key): key.publicKey
        }
    }
}

/// Reads keys with libcrypto's decoders: PKCS#8 (RFC 5958, also encrypted), SEC1 (RFC 5915), PKCS#1 (RFC 8017) and
/// SubjectPublicKeyInfo (RFC 5280).
///
/// Every key that is returned has passed ``KeySoundness``.
package enum KeyDecoder {
    /// The longest input that is read, in bytes.
    package static let maximumBytes = 64 * 1024

    /// Reads the one key in a PEM text (RFC 7468).
    ///
    /// A block of `EC PARAMETERS`, which some tools write before the key, is skipped. Two keys in one text are refused,
    /// because it would be a guess which of them is meant.
    ///
    /// - Parameters:
    ///   - pem: at most ``maximumBytes``. Text around the block is ignored (RFC 7468 section 2).
    ///   - passphrase: used only if the block is encrypted; nil and empty both mean that there is none.
    /// - Throws: ``LibcryptoError`` with ``LibcryptoError/Code/unreadableKey``, ``LibcryptoError/Code/passphrase``,
    ///   ``LibcryptoError/Code/unsupportedKey`` or ``LibcryptoError/Code/unsoundKey``.
    package static func decode(pem: [UInt8], passphrase: [UInt8]? = nil) throws(LibcryptoError) -> DecodedKey {
        guard pem.count <= maximumBytes else { throw LibcryptoError(.unreadableKey, "the key file is too large") }
        let blocks = PEMBlock.all(in: pem).filter { $0.label != "EC PARAMETERS" }
        guard let block = blocks.first else { throw LibcryptoError(.unreadableKey, "no PEM block") }
        guard blocks.count == 1 else { throw LibcryptoError(.unreadableKey, "more than one PEM block") }
        switch block.label {
        case "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY":
            let isEncrypted = block.label == "ENCRYPTED PRIVATE KEY" || block.isTraditionallyEncrypted
            return .private(try privateKey(block.bytes, .pem, passphrase, isEncrypted: isEncrypted))
        case "PUBLIC KEY", "RSA PUBLIC KEY":
            return .public(try PublicKey(checking: try key(block.bytes, .pem, isPrivate: false, nil)))
        case "CERTIFICATE":
            throw LibcryptoError(.unreadableKey, "a certificate, not a key: extract its public key first")
        default:
            throw LibcryptoError(.unreadableKey, "a PEM block that is no key")
        }
    }

    /// Reads the one key in a DER encoding, which must fill the input. Throws as ``decode(pem:passphrase:)`` does.
    ///
    /// A public key is tried first, because a DER structure does not say which it is.
    package static func decode(der: [UInt8], passphrase: [UInt8]? = nil) throws(LibcryptoError) -> DecodedKey {
        guard der.count <= maximumBytes else { throw LibcryptoError(.unreadableKey, "the key file is too large") }
        guard DERLength.isOneSequence(der) else { throw LibcryptoError(.unreadableKey, "not one DER structure") }
        do throws(LibcryptoError) {
            return .public(try PublicKey(checking: try key(der, .der, isPrivate: false, nil)))
        } catch  where error.code != .unreadableKey {
            throw error
        } catch {}
        return .private(try privateKey(der, .der, passphrase, isEncrypted: DERLength.looksEncrypted(der)))
    }

    private static func privateKey(
        _ bytes: [UInt8], _ form: CName, _ passphrase: [UInt8]?, isEncrypted: Bool
    ) throws(LibcryptoError) -> PrivateKey {
        guard isEncrypted else {
            return try PrivateKey(checking: try key(bytes, form, isPrivate: true, nil))
        }
        guard let passphrase, !passphrase.isEmpty else {
            throw LibcryptoError(.passphrase, "the key is encrypted and needs its passphrase")
        }
        let decoded: EVPKey
        do throws(LibcryptoError) {
            decoded = try key(bytes, form, isPrivate: true, passphrase)
        } catch {
            throw LibcryptoError(.passphrase, "the key is encrypted and this passphrase does not open it")
        }
        return try PrivateKey(checking: decoded)
    }

    private static func key(
        _ bytes: [UInt8], _ form: CName, isPrivate: Bool, _ passphrase: [UInt8]?
    ) throws(LibcryptoError) -> EVPKey {
        let publicKey = OSSL_KEYMGMT_SELECT_ALL_PARAMETERS | OSSL_KEYMGMT_SELECT_PUBLIC_KEY
        let selection = isPrivate ? publicKey | OSSL_KEYMGMT_SELECT_PRIVATE_KEY : publicKey
        var key: OpaquePointer?
        let result = withUnsafeMutablePointer(to: &key) { key in
            // The decoder keeps the pointer to `key`, so it is made, used and freed inside this closure.
            guard let context = OSSL_DECODER_CTX_new_for_pkey(key, form.pointer, nil, nil, selection, nil, nil) else {
                return CInt(0)
            }
            defer { OSSL_DECODER_CTX_free(context) }
            if let passphrase, OSSL_DECODER_CTX_set_passphrase(context, passphrase, passphrase.count) != 1 { return 0 }
            return bytes.withUnsafeBufferPointer { bytes in
                var start = bytes.baseAddress
                var rest = bytes.count
                return OSSL_DECODER_from_data(context, &start, &rest)
            }
        }
        guard let key else { throw LibcryptoError(.unreadableKey, "no key that libcrypto can read") }
        let owned = EVPKey(takingOwnershipOf: key)
        guard result == 1 else { throw LibcryptoError(.unreadableKey, "no key that libcrypto can read") }
        return owned
    }
}
