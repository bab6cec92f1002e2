import Testing

@testable import SecurityGuard

@Suite("Password hash")
struct PasswordHashTests {
    @Test("A hash matches its password after the way through its text, and no other")
    func roundTrip() throws {
        let hash = try PasswordHash.make(Array("secret".utf8), Fixture.cost)
        let text = hash.text
        #expect(text.hasPrefix("$scrypt$ln=4,r=8,p=1$"))
        #expect(!text.contains("=" + "$") && text.split(separator: "$").count == 4)
        let read = try #require(PasswordHash(text))
        #expect(try read.matches(Array("secret".utf8)))
        #expect(try !read.matches(Array("Secret".utf8)))
        #expect(try !read.matches(Array("secret ".utf8)))
    }

    @Test("The vector of RFC 7914 verifies as a PHC string")
    func vector() throws {
        // scrypt("pleaseletmein", "SodiumChloride", 16384, 8, 1), first 32 bytes.
        let text = "$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofI"
        #expect(try #require(PasswordHash(text)).matches(Array("pleaseletmein".utf8)))
    }

    @Test("Two hashes of one password differ")
    func salted() throws {
        let one = try PasswordHash.make([1], Fixture.cost)
        #expect(try one.text != PasswordHash.make([1], Fixture.cost).text)
    }

    @Test("No end of a long password is cut off")
    func notTruncated() throws {
        let long = [UInt8](repeating: 0x61, count: 1024)
        let hash = try PasswordHash.make(long, Fixture.cost)
        #expect(try !hash.matches(Array(long.dropLast())))
        #expect(try hash.matches(long))
    }

    @Test(
        "Text that is no such string, or asks for unreasonable work, is refused",
        arguments: [
            "", "$scrypt$", "scrypt$ln=4,r=8,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
            "$scrypt$ln=30,r=8,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
            "$scrypt$ln=20,r=32,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
            "$scrypt$ln=0,r=8,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
            "$scrypt$ln=+4,r=8,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
            "$scrypt$ln=4,r=8$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
            "$scrypt$r=8,ln=4,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
            "$scrypt$ln=4,r=8,p=1$AAA$AAAAAAAAAAAAAAAAAAAAAA",
            "$scrypt$ln=4,r=8,p=1$AAAAAAAAAAA=$AAAAAAAAAAAAAAAAAAAAAA",
            "$scrypt$ln=4,r=8,p=1$AAAAAAAA-_A$AAAAAAAAAAAAAAAAAAAAAA",
            "$scrypt$ln=4,r=8,p=1$AAAAAAAAAAA$", "$argon2id$ln=4,r=8,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
            "$scrypt$ln=4,r=8,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA$x",
        ])
    func malformed(text: String) { #expect(PasswordHash(text) == nil) }

    @Test("A weaker cost is known as one")
    func weaker() {
        #expect(Fixture.cost.isWeaker(than: .current))
        #expect(!ScryptParameters.current.isWeaker(than: .current))
        #expect(ScryptParameters.current.isReasonable)
    }
}
