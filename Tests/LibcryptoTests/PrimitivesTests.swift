import Libcrypto
import Testing

@Suite struct PrimitivesTests {
    @Test("SHA-2 of the known message")
    func digests() {
        let message = Array("abc".utf8)
        #expect(hex(Digest.sha256(message)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            hex(Digest.sha384(message)) == "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
                + "8086072ba1e7cc2358baeca134c825a7")
        #expect(
            hex(Digest.sha512(message)) == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f")
        #expect(
            hex(Digest.sha256([UInt8]())) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test("HMAC-SHA256 of RFC 4231, case 1, and of an empty key and message")
    func hmac() {
        let key = [UInt8](repeating: 0x0B, count: 20)
        #expect(
            hex(HMAC.sha256(key: key, Array("Hi There".utf8)))
                == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        #expect(
            hex(HMAC.sha256(key: [], [UInt8]())) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test("Only the complete tag is valid")
    func hmacKey() throws {
        let key = try HMACKey(.sha384, key: [UInt8](repeating: 7, count: 48))
        let tag = try key.authenticate(Array("m".utf8))
        #expect(tag.count == 48)
        #expect(key.isValid(tag, for: Array("m".utf8)))
        #expect(!key.isValid(Array(tag.dropLast()), for: Array("m".utf8)))
        #expect(!key.isValid([], for: Array("m".utf8)))
        #expect(!key.isValid(tag, for: Array("n".utf8)))
    }

    @Test("An ephemeral key verifies its own tags, and no other key's")
    func ephemeralKey() {
        let key = HMACKey.ephemeral()
        let tag = key.tag(of: Array("m".utf8))
        #expect(key.isValid(tag, for: Array("m".utf8)))
        #expect(!HMACKey.ephemeral().isValid(tag, for: Array("m".utf8)))
    }

    @Test("scrypt of RFC 7914, and its limits")
    func scrypt() throws {
        #expect(
            hex(try Scrypt.derive(password: [], salt: [], n: 16, r: 1, p: 1, length: 64))
                == "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906")
        #expect(
            hex(
                try Scrypt.derive(
                    password: Array("password".utf8), salt: Array("NaCl".utf8), n: 1024, r: 8, p: 16, length: 64))
                == "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640")
        #expect(throws: LibcryptoError.self) {
            try Scrypt.derive(password: [1], salt: [], n: 3, r: 1, p: 1, length: 64)
        }
        #expect(throws: LibcryptoError.self) {
            try Scrypt.derive(password: [1], salt: [], n: 1 << 40, r: 8, p: 1, length: 64)
        }
        #expect(throws: LibcryptoError.self) {
            try Scrypt.derive(password: [1], salt: [], n: 16, r: 1, p: 1, length: 0)
        }
    }

    @Test("Random bytes have the requested length and differ each time")
    func random() {
        #expect(SecureRandom.bytes(0).isEmpty)
        #expect(SecureRandom.bytes(32).count == 32)
        #expect(SecureRandom.bytes(32) != SecureRandom.bytes(32))
    }

    @Test("Constant-time comparison compares")
    func constantTime() {
        #expect(ConstantTime.equal([1, 2, 3], [1, 2, 3]))
        #expect(ConstantTime.equal([], []))
        #expect(!ConstantTime.equal([1, 2, 3], [1, 2, 4]))
        #expect(!ConstantTime.equal([1, 2, 3], [1, 2]))
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
