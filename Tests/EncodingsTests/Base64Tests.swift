import Encodings
import Testing

@Suite("Base64") struct Base64Tests {
    @Test(
        "The examples of RFC 4648 section 10, and the two characters that base64url has in another form",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"), ("~~>~?", "fn4+fj8="),
        ])
    func examples(plain: String, encoded: String) {
        let bytes = Array(plain.utf8)
        #expect(Base64.padded(bytes) == encoded)
        let bare = encoded.filter { $0 != "=" }
        #expect(Base64.unpadded(bytes) == bare)
        #expect(Base64.decode(unpadded: bare[...]) == bytes)
    }

    @Test(
        "What has padding, another alphabet or unused bits is refused",
        arguments: ["Zg==", "fn4-fj8", "fn4_fj8", "Zh", "Z", "Zm 9v", "Zm9v\n", "é"])
    func strict(text: String) {
        #expect(Base64.decode(unpadded: text[...]) == nil)
    }
}
