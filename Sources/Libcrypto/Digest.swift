import CLibcrypto

/// One-shot digests.
package enum Digest {
    /// SHA-256 of the bytes.
    package static func sha256(_ bytes: some Collection<UInt8>) -> [UInt8] {
        digest(.sha256, bytes)
    }

    /// SHA-384 of the bytes.
    package static func sha384(_ bytes: some Collection<UInt8>) -> [UInt8] {
        digest(.sha384, bytes)
    }

    /// SHA-512 of the bytes.
    package static func sha512(_ bytes: some Collection<UInt8>) -> [UInt8] {
        digest(.sha512, bytes)
    }

    /// The digest of the bytes, of ``DigestAlgorithm/byteCount`` bytes.
    package static func digest(_ algorithm: DigestAlgorithm, _ bytes: some Collection<UInt8>) -> [UInt8] {
        bytes.withContiguousStorageIfAvailable { digest(algorithm, buffer: $0) }
            ?? Array(bytes).withUnsafeBufferPointer { digest(algorithm, buffer: $0) }
    }

    private static func digest(_ algorithm: DigestAlgorithm, buffer: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: algorithm.byteCount) { out, written in
            var length: CUnsignedInt = 0
            let result = EVP_Digest(
                buffer.baseAddress, buffer.count, out.baseAddress, &length, algorithm.implementation, nil)
            // It fails only for lack of memory. Stopping is safer than to compare with a digest that was never written.
            precondition(result == 1 && Int(length) == algorithm.byteCount, "EVP_Digest failed")
            written = algorithm.byteCount
        }
    }
}
