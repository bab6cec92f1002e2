import CLibcrypto

extension Digest {
    /// SHA-1, which RFC 6455 section 4.2.2 asks for in `Sec-WebSocket-Accept`. It protects nothing there; use it for
    /// nothing else.
    package static func handshakeSHA1(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 20) { out, written in
            var length: CUnsignedInt = 0
            let result = EVP_Digest(bytes, bytes.count, out.baseAddress, &length, EVP_sha1(), nil)
            precondition(result == 1 && length == 20, "EVP_Digest failed")
            written = 20
        }
    }
}
