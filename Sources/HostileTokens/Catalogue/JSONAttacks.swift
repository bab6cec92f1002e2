import Encodings

/// J16: JSON that is malformed, too deep, or accepted by some parsers only.
enum JSONAttacks {
    /// Under a valid signature, so that the parser of claims is reached: a target that checks the signature first never
    /// parses claims that are not signed with its key. Headers are parsed before that, by every target.
    static let all: [Attack] = depths + values + documents + headers

    /// A parser that recurses without a limit ends the process at some depth (CWE-674).
    private static let depths: [Attack] = [
        claim("depth-33-arrays", nested("[", "]", 33), "33 arrays in one another"),
        claim("depth-1000-arrays", nested("[", "]", 1_000), "1,000 arrays in one another"),
        claim("depth-33-objects", nested(#"{"a":"#, "}", 33, core: "1"), "33 objects in one another"),
        claim("depth-500-objects", nested(#"{"a":"#, "}", 500, core: "1"), "500 objects in one another"),
        claim("depth-unclosed", String(repeating: "[", count: 2_000), "2,000 arrays opened, none closed"),
    ]

    /// Invalid values of a claim that no check reads: they make the whole document malformed.
    private static let values: [Attack] = [
        claim("number-leading-zero", "01", "the number 01"), claim("number-no-digit", ".5", "the number .5"),
        claim("number-open", "5.", "the number 5."), claim("number-plus", "+1", "the number +1"),
        claim("number-minus", "-", "a minus without digits"), claim("number-hex", "0x1F", "a hexadecimal number"),
        claim("number-nan", "NaN", "NaN"), claim("number-infinity", "Infinity", "Infinity"),
        claim("literal-case", "True", "True with a capital"), claim("literal-undefined", "undefined", "undefined"),
        claim("string-single-quotes", "'x'", "single quotes"),
        claim("string-control", "\"a\u{1}b\"", "a bare control byte"),
        claim("string-newline", "\"a\nb\"", "a bare newline in a string"),
        claim("string-escape", #""\x41""#, "an escape that does not exist"),
        claim("comment", "1/**/", "a comment"), claim("array-comma", "[1,]", "a comma before the bracket"),
        claim("number-exponent", "1E+2", "the number 1E+2, which is JSON", .accepted),
        claim("number-minus-zero", "-0", "the number -0, which is JSON", .accepted),
    ]

    /// Payloads that are not one JSON object and nothing else, or have no claims (RFC 7519 section 7.2).
    private static let documents: [Attack] = [
        document("trailing-comma", "a comma before the last brace") { $0.dropLast() + ",}" },
        document("two", "two documents") { $0 + $0 }, document("trailing-byte", "a letter after it") { $0 + "x" },
        document("trailing-nul", "a NUL after it") { $0 + "\u{0}" },
        document("byte-order-mark", "a byte order mark before it") { "\u{FEFF}" + $0 },
        document("array", "an array around it") { "[" + $0 + "]" }, document("string", "a string") { _ in #""x""# },
        document("null", "null") { _ in "null" }, document("empty", "nothing") { _ in "" },
        document("empty-object", "no claims") { _ in "{}" },
        document("line-comment", "a comment after it") { $0 + "//" },
        document("unclosed", "no last brace") { String($0.dropLast()) },
    ]

    /// Headers that are not one JSON object and nothing else, have no members or nest too deep, under a valid signature
    /// (RFC 7515 section 5.2).
    private static let headers: [Attack] = [
        header("array", "an array around it") { "[" + $0 + "]" }, header("string", "a string") { _ in #""x""# },
        header("null", "null") { _ in "null" }, header("empty-object", "no members") { _ in "{}" },
        header("two", "two documents") { $0 + $0 }, header("trailing-byte", "a letter after it") { $0 + "x" },
        header("byte-order-mark", "a byte order mark before it") { "\u{FEFF}" + $0 },
        header("depth-500", "500 arrays in one another") {
            RawJSON.appending(RawJSON.member("x", nested("[", "]", 500)), to: $0)
        },
    ]

    /// So many opening texts, the core, and as many closing ones.
    private static func nested(_ open: String, _ close: String, _ depth: Int, core: String = "") -> String {
        String(repeating: open, count: depth) + core + String(repeating: close, count: depth)
    }

    /// A payload with one more member, under a valid signature.
    ///
    /// - Parameter raw: the member's value as it stands in the JSON, which need not be valid.
    private static func claim(
        _ name: String, _ raw: String, _ title: String, _ expectation: Expectation = .tokenRefused
    ) -> Attack {
        attack("claim-\(name)", "a claim with \(title)", expectation) { try $0.signed(claimChanges: [("x", raw)]) }
    }

    /// A payload whose text is changed, under a valid signature.
    private static func document(
        _ name: String, _ title: String, _ change: @escaping @Sendable (String) -> String
    ) -> Attack {
        attack("payload-\(name)", "payload: \(title)", .tokenRefused) {
            try $0.signed(payload: Array(change($0.freshClaims()).utf8))
        }
    }

    /// A header whose text is changed, under a valid signature.
    private static func header(
        _ name: String, _ title: String, _ change: @escaping @Sendable (String) -> String
    ) -> Attack {
        attack("header-\(name)", "header: \(title)", .tokenRefused) {
            try $0.signed(header: Array(change(try $0.signedHeader()).utf8))
        }
    }

    private static func attack(
        _ name: String, _ title: String, _ expectation: Expectation,
        _ token: @escaping @Sendable (AttackMaterial) throws -> [UInt8]
    ) -> Attack {
        Attack(
            id: "J16-\(name)", title: title, reference: "RFC 8259, RFC 7519 §7.2", category: .json, mode: .signed,
            expectation: expectation
        ) { .token(try token($0)) }
    }
}
