import OAuth
import Testing

@testable import GatewayAPI

@Suite("Form bodies")
struct FormBodyTests {
    @Test("Values are decoded once")
    func decoding() throws {
        let form = try FormBody(Array("a=x+y%2Bz&b=&c=%E2%82%AC".utf8))
        #expect(form["a"] == "x y+z")
        #expect(form["b"] == nil)
        #expect(form["c"] == "€")
        #expect(form["d"] == nil)
    }

    @Test(
        "Broken escapes, bad UTF-8 and doubled names are refused",
        arguments: ["a=%", "a=%4", "a=%gg", "a=%ff", "a=1&a=2", "a=1&%61=2"])
    func refused(text: String) {
        #expect(throws: OAuthFault.self) { try FormBody(Array(text.utf8)) }
    }

    @Test("One name may be allowed to repeat, and is then read as one or as any")
    func repeatable() throws {
        func form(_ text: String) throws -> FormBody { try FormBody(Array(text.utf8), repeatable: "r") }
        #expect(throws: OAuthFault.self) { try form("r=1&r=2&a=1&a=1") }
        let twice = try form("r=&r=2")
        #expect(twice.has("r"))
        #expect(throws: OAuthFault.self) { try twice.single("r") }
        let once = try form("r=1")
        #expect(once.has("r"))
        #expect(try once.single("r") == "1")
        let empty = try form("r=")
        #expect(!empty.has("r"))
        #expect(try empty.single("r") == nil)
        #expect(try empty.single("a") == nil)
    }
}
