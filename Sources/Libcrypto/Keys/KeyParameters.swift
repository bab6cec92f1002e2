import CLibcrypto

/// Collects the parameters of a key and makes the key.
struct KeyParameters {
    private var entries: [Entry] = []

    private enum Entry {
        case number(String, [UInt8])
        case text(String, String)
        case octets(String, [UInt8])
    }

    /// Adds a big-endian number.
    ///
    /// - Parameter name: libcrypto's name of the parameter, an `OSSL_PKEY_PARAM` constant.
    mutating func number(_ name: String, _ bytes: [UInt8]) { entries.append(.number(name, bytes)) }

    /// Adds a text, such as the name of a curve.
    mutating func text(_ name: String, _ value: String) { entries.append(.text(name, value)) }

    /// Adds bytes.
    mutating func octets(_ name: String, _ bytes: [UInt8]) { entries.append(.octets(name, bytes)) }

    /// Makes the key. The numbers and bytes are copied for libcrypto, and the copies wiped afterwards.
    ///
    /// - Parameters:
    ///   - algorithm: libcrypto's name: ``KeyKind/algorithmName``.
    ///   - isPrivate: whether the private parameters are read too; without it they are ignored.
    /// - Returns: a key that only libcrypto has checked. Callers pass it on to ``KeySoundness``.
    /// - Throws: ``LibcryptoError/Code/unsoundKey`` if libcrypto makes no key of these parameters.
    func makeKey(_ algorithm: String, isPrivate: Bool) throws(LibcryptoError) -> EVPKey {
        let builder = try LibcryptoError.unwrap(OSSL_PARAM_BLD_new(), "OSSL_PARAM_BLD_new")
        defer { OSSL_PARAM_BLD_free(builder) }
        // Builder and result keep pointers to the names, numbers and bytes, which must be valid until the key is made.
        let storage = Storage()
        for entry in entries {
            let result: CInt
            switch entry {
            case .number(let name, let bytes):
                result = OSSL_PARAM_BLD_push_BN(builder, storage.text(name), try storage.number(bytes))
            case .text(let name, let value):
                result = OSSL_PARAM_BLD_push_utf8_string(builder, storage.text(name), storage.text(value), 0)
            case .octets(let name, let bytes):
                result = OSSL_PARAM_BLD_push_octet_string(
                    builder, storage.text(name), storage.bytes(bytes).baseAddress, bytes.count)
            }
            try LibcryptoError.check(result, "OSSL_PARAM_BLD_push")
        }
        let parameters = try LibcryptoError.unwrap(OSSL_PARAM_BLD_to_param(builder), "OSSL_PARAM_BLD_to_param")
        defer { OSSL_PARAM_free(parameters) }
        return try withExtendedLifetime(storage) { () throws(LibcryptoError) in
            try Self.makeKey(algorithm, isPrivate: isPrivate, parameters)
        }
    }

    private static func makeKey(
        _ algorithm: String, isPrivate: Bool, _ parameters: UnsafeMutablePointer<OSSL_PARAM>
    ) throws(LibcryptoError) -> EVPKey {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, algorithm, nil) else {
            throw LibcryptoError(.algorithmUnavailable, "\(algorithm) is not in this libcrypto")
        }
        defer { EVP_PKEY_CTX_free(context) }
        try LibcryptoError.check(EVP_PKEY_fromdata_init(context), "EVP_PKEY_fromdata_init")
        // EVP_PKEY_PUBLIC_KEY and EVP_PKEY_KEYPAIR are macros over these constants.
        let publicKey = OSSL_KEYMGMT_SELECT_ALL_PARAMETERS | OSSL_KEYMGMT_SELECT_PUBLIC_KEY
        let selection = isPrivate ? publicKey | OSSL_KEYMGMT_SELECT_PRIVATE_KEY : publicKey
        var key: OpaquePointer?
        guard EVP_PKEY_fromdata(context, &key, selection, parameters) == 1, let key else {
            throw LibcryptoError(.unsoundKey, "the numbers do not make a key")
        }
        return EVPKey(takingOwnershipOf: key)
    }

    /// Owns copies at fixed addresses, and wipes them when it is released.
    private final class Storage {
        private var numbers: [OpaquePointer] = []
        private var buffers: [UnsafeMutableBufferPointer<UInt8>] = []

        deinit {
            for number in numbers { BN_clear_free(number) }
            for buffer in buffers {
                OPENSSL_cleanse(buffer.baseAddress, buffer.count)
                buffer.deallocate()
            }
        }

        func number(_ bytes: [UInt8]) throws(LibcryptoError) -> OpaquePointer {
            let number = try LibcryptoError.unwrap(BN_bin2bn(bytes, CInt(clamping: bytes.count), nil), "BN_bin2bn")
            numbers.append(number)
            return number
        }

        func bytes(_ bytes: [UInt8]) -> UnsafeMutableBufferPointer<UInt8> {
            // One more byte terminates a text, and gives an empty array an address.
            let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count + 1)
            _ = buffer.initialize(from: bytes + [0])
            buffers.append(buffer)
            return buffer
        }

        func text(_ text: String) -> UnsafePointer<CChar>? {
            UnsafeRawPointer(bytes(Array(text.utf8)).baseAddress)?.assumingMemoryBound(to: CChar.self)
        }
    }
}
