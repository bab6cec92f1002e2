import HTTPWire
import NIOCore
import Testing

@Suite("A query")
struct RequestQueryTests {
    private func values(_ query: String) throws -> [String] {
        try RequestQuery(Wire.buffer(query)).values(of: "access_token").map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "gives every value of a name, decoded once",
        arguments: [
            ("access_token=a", ["a"]), ("x=1&access_token=a&access_token=b", ["a", "b"]), ("access%5Ftoken=a", ["a"]),
            ("%61ccess_token=%61%2b%2561", ["a+%61"]), ("access_token=a+b", ["a+b"]), ("access_token", [""]),
            ("access_token=", [""]),
            ("access_token=a=b", ["a=b"]), ("access_token=a;access_token=b", ["a;access_token=b"]),
            ("Access_Token=a", []),
            ("access_token[]=a", []), ("access_token%00=a", []), ("access_toke%=a", []), ("", []), ("&&", []),
            ("=a", []),
            ("access_token=%00", ["\0"]), ("xaccess_token=a&access_tokenx=b", []), ("access_token%3Da", []),
        ])
    func values(query: String, expected: [String]) throws {
        #expect(try values(query) == expected)
    }

    @Test(
        "with a broken escape in a wanted value is refused",
        arguments: ["access_token=%", "access_token=%4", "access_token=a%zz"])
    func broken(query: String) {
        #expect(throws: WireError(.query, "")) { try values(query) }
    }

    @Test("of too many pairs is refused when it is read") func bounded() throws {
        let pairs = Array(repeating: "a=b", count: RequestQuery.maxPairs - 1).joined(separator: "&")
        #expect(try values(pairs + "&access_token=x") == ["x"])
        #expect(throws: WireError(.tooManyParameters, "")) { try values(pairs + "&a=b&access_token=x") }
        #expect(throws: WireError(.tooManyParameters, "")) {
            try RequestQuery(Wire.buffer(pairs + "&a=b&access_token=x")).removing(["access_token"])
        }
    }

    @Test(
        "loses the named pairs and nothing else",
        arguments: [
            ("a=1&b=%zz+2", "a=1&b=%zz+2"), ("access_token=x", nil), ("access_token=x&a=1", "a=1"),
            ("a=1&access_token=x", "a=1"),
            ("a=1&access%5ftoken=x&&b=%2F&session_id=s", "a=1&&b=%2F"), ("&access_token=x", ""),
            ("a=access_token", "a=access_token"),
        ] as [(String, String?)])
    func removing(query: String, expected: String?) throws {
        let rest = try RequestQuery(Wire.buffer(query)).removing(["access_token", "session_id"])
        #expect(rest.map { String(buffer: $0) } == expected)
    }
}
