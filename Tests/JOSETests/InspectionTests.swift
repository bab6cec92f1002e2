import Encodings
import Testing

@testable import JOSE

@Suite struct InspectionTests {
    @Test("A valid access token has no finding that fails or warns")
    func good() throws {
        let token = try UnverifiedToken(try Keys.key(.es256).sign(claims: goodClaims, type: "at+jwt"))
        let findings = TokenLint.findings(token, now: now)
        #expect(findings.allSatisfy { $0.level == .ok })
        #expect(findings.map(\.check) == ["alg", "iss", "sub", "aud", "key-pointers", "kid", "exp", "dates", "typ"])
    }

    @Test(
        "Everything that RFC 8725 warns of is found",
        arguments: [
            (#"{"alg":"none"}"#, nil, "alg", LintFinding.Level.fail), (#"{"alg":"rs256"}"#, nil, "alg", .fail),
            (#"{"alg":"HS256"}"#, nil, "alg", .warn), (#"{"alg":"EdDSA"}"#, nil, "alg", .warn),
            (#"{"alg":"ES256","jku":"x"}"#, nil, "key-pointers", .warn),
            (#"{"alg":"ES256","kid":"../x"}"#, nil, "kid", .fail),
            (#"{"alg":"ES256","kid":"a' OR 1"}"#, nil, "kid", .fail), (#"{"alg":"ES256"}"#, nil, "kid", .warn),
            (#"{"alg":"ES256","typ":"JWT"}"#, nil, "typ", .warn),
            (#"{"alg":"ES256","crit":["x"]}"#, nil, "crit", .fail),
            (#"{"alg":"ES256","zip":"DEF"}"#, nil, "zip", .warn), (nil, "{}", "exp", .warn), (nil, "{}", "aud", .warn),
            (nil, "{}", "iss", .warn), (nil, "[]", "payload", .fail), (nil, #"{"exp":"1"}"#, "payload", .fail),
            (nil, #"{"exp":1}"#, "dates", .fail), (nil, #"{"iat":0,"exp":9999999999}"#, "exp", .warn),
            (nil, #"{"sid":"x"}"#, "contents", .warn),
        ] as [(String?, String?, String, LintFinding.Level)])
    func findings(header: String?, payload: String?, check: String, level: LintFinding.Level) throws {
        let token = try UnverifiedToken(try forge(try Keys.key(.es256), header: header, payload: payload))
        let finding = TokenLint.findings(token, now: now).first { $0.check == check }
        #expect(finding?.level == level)
    }

    @Test("No finding calls a token valid or quotes it")
    func wording() throws {
        let payload = #"{"iss":"SECRET-1","sub":"SECRET-2","aud":"SECRET-3","exp":9999999999}"#
        let token = try UnverifiedToken(
            try forge(
                try Keys.key(.es256), header: #"{"alg":"ES256","kid":"SECRET-4","typ":"SECRET-5"}"#, payload: payload))
        for finding in TokenLint.findings(token, now: now) {
            #expect(!finding.message.contains("SECRET"))
            #expect(!finding.message.contains("valid"))
        }
    }

    @Test(
        "J32: characters that a terminal would interpret are escaped",
        arguments: [
            ("\u{1B}[31mred", "\\u{1B}[31mred"), ("a\u{7}b", "a\\u{7}b"), ("\u{202E}abc", "\\u{202E}abc"),
            ("a\rb", "a\\u{D}b"),
            ("a\nb", "a\\u{A}b"), ("\u{9B}1m", "\\u{9B}1m"),
            ("\u{200B}\u{2066}\u{FEFF}", "\\u{200B}\\u{2066}\\u{FEFF}"),
            ("\u{2028}", "\\u{2028}"), ("\u{7F}", "\\u{7F}"), ("\u{E0041}", "\\u{E0041}"), ("Zoë 日本 🙂", "Zoë 日本 🙂"),
        ])
    func escaping(text: String, shown: String) {
        #expect(TerminalText.escaped(text) == shown)
    }

    @Test("Line feeds are kept if requested, carriage returns never")
    func lines() {
        #expect(TerminalText.escaped("a\nb", keepingLines: true) == "a\nb")
        #expect(TerminalText.escaped("a\r\nb", keepingLines: true) == "a\\u{D}\nb")
        #expect(TerminalText.escaped(bytes: [0xFF, 0x1B]) == "\u{FFFD}\\u{1B}")
    }

    @Test("Reasons keep their names")
    func reasons() {
        #expect(
            Set(TokenRefusal.Reason.allCases.map(\.rawValue)).isSuperset(of: [
                "malformed", "too_large", "critical_header", "algorithm_not_allowed", "algorithm_mismatch",
                "key_unknown",
                "signature_invalid", "type_mismatch", "issuer_mismatch", "audience_mismatch", "claim_missing",
                "claim_invalid",
                "not_yet_valid", "expired",
            ]))
    }
}
