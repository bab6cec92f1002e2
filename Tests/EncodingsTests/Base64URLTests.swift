import Encodings
import Testing

@Suite struct Base64URLTests {
    @Test("Every length round-trips", arguments: 0...67)
    func roundTrip(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 83 &+ 250) }
        let text = Base64URL.encode(bytes)
        #expect(text.utf8.count == (count * 4 + 2) / 3)
        #expect(Base64URL.decode(text) == bytes)
        #expect(Base64URL.decode(Array(("x" + text).utf8).dropFirst()) == bytes)
    }

    @Test(
        "Known texts of RFC 4648",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ])
    func knownTexts(plain: String, text: String) {
        #expect(Base64URL.encode(plain.utf8) == text)
        #expect(Base64URL.decode(text) == Array(plain.utf8))
    }

    @Test("The URL-safe letters are used")
    func urlSafeLetters() {
        #expect(Base64URL.encode([0xFB, 0xEF, 0xFF]) == "--__")
        #expect(Base64URL.decode("--__") == [0xFB, 0xEF, 0xFF])
    }

    @Test(
        "Any other spelling is refused",
        arguments: [
            "Zg==", "Zg=", "=", "A", "AAAAA", "Zh", "AB", "AAB", "Zm9v+/", "++//", " Zg", "Zg ", "Z g", "Zg\n",
            "\r\nZg",
            "Zm9\u{0}", "Zm?v", "Zm9vé", "Zm8.", "ＺＧ",
        ])
    func otherSpellings(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test("Every byte outside the alphabet is refused at every position")
    func foreignBytes() {
        let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        for byte in UInt8.min...UInt8.max {
            for place in 0..<4 {
                var text = Array("AAAA".utf8)
                text[place] = byte
                #expect((Base64URL.decode(text) != nil) == alphabet.contains(byte), "byte \(byte) at \(place)")
            }
        }
    }
}
