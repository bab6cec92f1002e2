import Encodings
import Testing

@testable import JOSE

/// Rows of the attack list that are about bytes, segments, JSON and headers.
@Suite struct FormatAttackTests {
    @Test("J13: invalid base64url is refused, also if the signature is valid for it")
    func oddSegments() throws {
        let key = try Keys.key(.es256)
        let header = Base64URL.encode(#"{"alg":"ES256","typ":"at+jwt"}"#.utf8)
        let payload = Base64URL.encode((goodClaims.serialized() + " ").utf8)
        #expect(refusal(try forge(key, headerSegment: header, payloadSegment: payload), key.verificationKey) == nil)
        for odd in ["=", "==", " ", "\n", "\r\n", "\u{0}", "?", "+", "/", "A", "é"] {
            for token in [
                try forge(key, headerSegment: header + odd, payloadSegment: payload),
                try forge(key, headerSegment: odd + header, payloadSegment: payload),
                try forge(key, headerSegment: header, payloadSegment: payload + odd),
                try forge(key, headerSegment: header, payloadSegment: payload) + odd,
            ] {
                #expect(refusal(token, key.verificationKey) != nil, "\(odd.debugDescription)")
            }
        }
        // Non-zero unused bits: the last letter of a text whose length is not a multiple of four.
        let short = Base64URL.encode(#"{"alg":"ES256","typ":"at+jwt" }"#.utf8)
        #expect(short.utf8.count % 4 != 0)
        let twin = short.dropLast() + (short.hasSuffix("Q") ? "R" : "1")
        #expect(
            refusal(try forge(key, headerSegment: String(twin), payloadSegment: payload), key.verificationKey) != nil)
    }

    @Test(
        "J14, J20: anything but three segments is refused",
        arguments: ["", "a", ".", "a.b", "..", "...", "....", "a.b.c.d", "a.b.c.d.e", ".e30.", "a.b.c.d.e.f"])
    func segments(text: String) {
        #expect(throws: TokenRefusal(.malformed, "")) { try UnverifiedToken(text) }
    }

    @Test("J14, J26: a hundred thousand dots and tokens beyond the limit are refused by their length")
    func tooLarge() throws {
        let key = try Keys.key(.hs256)
        #expect(throws: TokenRefusal(.tooLarge, "")) { try UnverifiedToken(String(repeating: ".", count: 100_000)) }
        #expect(throws: TokenRefusal(.malformed, "")) { try UnverifiedToken(String(repeating: ".", count: 8192)) }
        let big = try key.sign(payload: [UInt8](repeating: 0x41, count: 6100))
        #expect(big.utf8.count > 8192)
        #expect(throws: TokenRefusal(.tooLarge, "")) { try UnverifiedToken(big) }
        #expect(throws: Never.self) { try UnverifiedToken(big, limits: TokenLimits(maxBytes: 16384)) }
    }

    @Test("J20: the refusal of an encrypted token names it as such")
    func encrypted() throws {
        let refusal = #expect(throws: TokenRefusal.self) { try UnverifiedToken("eyJhbGciOiJkaXIifQ.a.b.c.d") }
        #expect(refusal?.detail.contains("JWE") == true)
    }

    @Test(
        "J15, J16, J17: headers that are not one strict JSON object are refused",
        arguments: [
            #"{"alg":"ES256","alg":"ES256"}"#, #"{"alg":"none","\u0061lg":"ES256"}"#, "[]", #""x""#, "null", "",
            #"{"alg":"ES256",}"#, #"{"alg":"ES256"}{}"#, #"{"alg":"ES256"} x"#, "\u{FEFF}{\"alg\":\"ES256\"}",
            #"{"alg":"ES256","x":"\ud800"}"#, #"{"alg":"ES256","x":1e400}"#, #"{"alg":"ES256","x":01}"#,
            #"{"alg":"ES256","kid":1}"#, #"{"alg":"ES256","kid":["a"]}"#, #"{"alg":"ES256","typ":null}"#,
            #"{"alg":"ES256","cty":7}"#, "{\"alg\":\"ES256\",\"kid\":\"" + String(repeating: "k", count: 129) + "\"}",
        ])
    func headers(header: String) throws {
        let key = try Keys.key(.es256)
        #expect(refusal(try forge(key, header: header), key.verificationKey) == .malformed)
        #expect(refusal(try forge(key), key.verificationKey) == nil)
    }

    @Test(
        "J15, J16, J17: payloads that are not one strict JSON object are refused",
        arguments: [
            "", "[]", #""x""#, "null", "1", "{", #"{"exp":1,"exp":9999999999}"#, #"{"exp":9999999999,"\u0065xp":1}"#,
            #"{"sub":"a","sub":"b"}"#, #"{"x":NaN}"#, #"{"x":1e309}"#, #"{"x":.5}"#, #"{"a":1}{"b":2}"#,
            #"{"x":"\udc00"}"#,
            "{\"x\":" + String(repeating: "[", count: 33) + String(repeating: "]", count: 33) + "}",
        ])
    func payloads(payload: String) throws {
        let key = try Keys.key(.es256)
        #expect(refusal(try forge(key, payload: payload), key.verificationKey) == .malformed)
        #expect(refusal(try forge(key), key.verificationKey) == nil)
    }

    @Test("J16: -0 and 1E+2 are JSON")
    func oddNumbers() throws {
        let key = try Keys.key(.es256)
        var claims = goodClaims
        claims["x"] = try StrictJSON.parse("[-0,1E+2]")
        #expect(refusal(try forge(key, payload: claims.serialized()), key.verificationKey) == nil)
    }

    @Test(
        "J18: every demand for an extension is refused",
        arguments: [
            #""crit":["exp"]"#, #""crit":["x"]"#, #""crit":[]"#, #""crit":"b64""#, #""crit":["b64"],"b64":false"#,
            #""crit":["b64"],"b64":true"#, #""crit":["b64","b64"],"b64":true"#, #""crit":["x"],"x":1"#, #""crit":null"#,
            #""b64":false"#, #""b64":true"#, #""cr\u0069t":["x"]"#,
        ])
    func critical(members: String) throws {
        let key = try Keys.key(.es256)
        let token = try forge(key, header: #"{"alg":"ES256","typ":"at+jwt",\#(members)}"#)
        #expect(refusal(token, key.verificationKey) == .criticalHeader)
        let signatureOnly = try UnverifiedToken(token).verifySignature(with: key.verificationKey)
        #expect(throws: TokenRefusal(.criticalHeader, "")) { try signatureOnly.get() }
        #expect(refusal(try forge(key), key.verificationKey) == nil)
    }

    @Test(
        "J19: only the required kind of token is accepted",
        arguments: [
            ("at+jwt", true), ("AT+JWT", true), ("application/at+jwt", true), ("Application/AT+JWT", true),
            ("JWT", false),
            ("id_token", false), ("logout+jwt", false), ("dpop+jwt", false), ("gatehouse-assertion+jwt", false),
            ("", false),
            ("at+jwt ", false), ("at+jwt; x=y", false), ("application/application/at+jwt", false),
            ("text/at+jwt", false),
        ])
    func types(type: String, accepted: Bool) throws {
        let key = try Keys.key(.es256)
        let token = try key.sign(claims: goodClaims, type: type)
        #expect(refusal(token, key.verificationKey) == (accepted ? nil : .typeMismatch))
    }

    @Test("J19, J20: a token without typ and a nested token are refused")
    func missingType() throws {
        let key = try Keys.key(.es256)
        #expect(refusal(try forge(key, header: #"{"alg":"ES256"}"#), key.verificationKey) == .typeMismatch)
        for nested in ["JWT", "jwt", "application/jwt"] {
            let header = #"{"alg":"ES256","typ":"at+jwt","cty":"\#(nested)"}"#
            #expect(refusal(try forge(key, header: header), key.verificationKey) == .typeMismatch)
        }
        #expect(
            refusal(try forge(key, header: #"{"alg":"ES256","typ":"at+jwt","zip":"DEF"}"#), key.verificationKey) == nil)
    }
}
