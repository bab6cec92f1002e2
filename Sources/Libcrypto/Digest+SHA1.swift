import CLibcrypto

extension Digest {
    /// SHA-1 for `Sec-WebSocket-Accept` (RFC 6455 section 4.2.2), where nothing depends on its strength. It must not be
    /// used for anything else.
    package static func handshakeSHA1(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 20) { out, written in
            var length: CUnsignedInt = 0
            let result = EVP_Digest(
                bytes, bytes.count, out.baseAddress, &length, FetchedDigest.sha1.pointer, nil)
            precondition(result == 1 && length == 20, "EVP_Digest failed")
            written = 20
        }
    }
}
