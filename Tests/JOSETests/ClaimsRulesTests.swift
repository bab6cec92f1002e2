import Encodings
import Testing

@testable import JOSE

@Suite struct ClaimsRulesTests {
    private func judge(
        _ name: String, _ value: String?, _ rules: ClaimsRules = goodRules
    ) throws -> TokenRefusal.Reason? {
        let key = try Keys.key(.hs256)
        var claims = goodClaims
        claims[name] = try value.map {
            try StrictJSON.parse($0, limits: JSONLimits(maxMembers: 20_000, maxValues: 20_000))
        }
        return refusal(try forge(key, payload: claims.serialized()), key.verificationKey, rules)
    }

    @Test(
        "J21: exp is a finite number of seconds, and in the future",
        arguments: [
            (nil, .claimMissing), ("null", .claimInvalid), (#""9999999999""#, .claimInvalid), ("true", .claimInvalid),
            ("[]", .claimInvalid), ("{}", .claimInvalid), ("-1", .claimInvalid), ("0", .claimInvalid),
            ("1799999969", .claimInvalid),
            ("1799999991", nil), ("9007199254740993", .claimInvalid), ("9223372036854775808", .claimInvalid),
            ("18446744073709551616", .claimInvalid), ("9000000000000000000", .claimInvalid), ("1e300", .claimInvalid),
            ("1800000000.5", nil), ("1.8000006E+9", nil),
        ] as [(String?, TokenRefusal.Reason?)])
    func expiry(value: String?, reason: TokenRefusal.Reason?) throws {
        #expect(try judge("exp", value) == reason)
    }

    @Test(
        "exp has passed exactly when now minus the leeway has reached it",
        arguments: [(29.0, false), (30, true), (31, true)])
    func expiryEdge(late: Double, refused: Bool) throws {
        let key = try Keys.key(.hs256)
        let token = try forge(key)
        let reason = refusal(token, key.verificationKey, now: 1_800_000_600 + late)
        #expect(reason == (refused ? .expired : nil))
    }

    @Test(
        "J22: nbf and iat",
        arguments: [
            ("nbf", "1800000030", nil), ("nbf", "1800000031", .notYetValid), ("nbf", #""1""#, .claimInvalid),
            ("nbf", "-1", .claimInvalid), ("nbf", "null", .claimInvalid), ("nbf", nil, nil),
            ("nbf", "1800000700", .notYetValid),
            ("iat", "1800000030", nil), ("iat", "1800000031", .issuedInFuture), ("iat", nil, .claimMissing),
            ("iat", "true", .claimInvalid), ("exp", "1799999980", .claimInvalid),
        ] as [(String, String?, TokenRefusal.Reason?)])
    func otherDates(name: String, value: String?, reason: TokenRefusal.Reason?) throws {
        #expect(try judge(name, value) == reason)
    }

    @Test(
        "J23: aud contains the audience exactly",
        arguments: [
            (nil, .claimMissing), (#""gatehouse""#, nil), (#"["gatehouse","other"]"#, nil),
            (#"["other","gatehouse"]"#, nil),
            (#""""#, .audienceMismatch), ("[]", .audienceMismatch), (#"[["gatehouse"]]"#, .claimInvalid),
            (#"{"gatehouse":1}"#, .claimInvalid), (#""gatehouse2""#, .audienceMismatch),
            (#""gate""#, .audienceMismatch),
            (#""Gatehouse""#, .audienceMismatch), (#""gatehouse/""#, .audienceMismatch), ("7", .claimInvalid),
            (#"["gatehouse",7]"#, .claimInvalid), ("null", .claimInvalid),
        ] as [(String?, TokenRefusal.Reason?)])
    func audience(value: String?, reason: TokenRefusal.Reason?) throws {
        #expect(try judge("aud", value) == reason)
    }

    @Test(
        "J24: iss is the issuer, byte for byte",
        arguments: [
            (nil, .claimMissing), (#""https://gate.example/""#, .issuerMismatch),
            (#""https://Gate.example""#, .issuerMismatch),
            (#""https://gate.example:443""#, .issuerMismatch), (#""https://gate。example""#, .issuerMismatch),
            (#"["https://gate.example"]"#, .claimInvalid), (#""gate.example""#, .issuerMismatch),
            (#""""#, .issuerMismatch),
            (#""https:\/\/gate.example""#, nil), ("null", .claimInvalid),
        ] as [(String?, TokenRefusal.Reason?)])
    func issuer(value: String?, reason: TokenRefusal.Reason?) throws {
        #expect(try judge("iss", value) == reason)
    }

    @Test(
        "J25: sub, jti and client_id are strings that are not empty",
        arguments: ["sub", "jti", "client_id"], [nil, #""""#, "[]", "7", "null", "{}"] as [String?])
    func strings(name: String, value: String?) throws {
        let reason = try judge(name, value)
        #expect(reason == (value == nil ? .claimMissing : .claimInvalid))
        #expect(try judge(name, #""x""#) == nil)
    }

    @Test("Names are compared as bytes, not as canonical equivalents")
    func bytes() throws {
        var rules = goodRules
        rules.audience = ["caf\u{E9}"]
        #expect(try judge("aud", "\"caf\u{E9}\"", rules) == nil)
        #expect(try judge("aud", "\"cafe\u{301}\"", rules) == .audienceMismatch)
        rules = goodRules
        rules.subject = "\u{E9}"
        #expect(try judge("sub", "\"e\u{301}\"", rules) == .subjectMismatch)
        #expect(try judge("sub", "\"\u{E9}\"", rules) == nil)
    }

    @Test("J21: the lifetime is bounded if the rules say so")
    func lifetime() throws {
        var rules = goodRules
        rules.maximumLifetime = 610
        #expect(try judge("exp", "1800000600", rules) == nil)
        #expect(try judge("exp", "1800000601", rules) == .lifetimeExceeded)
    }

    @Test("Expired is the reason only if everything else is in order")
    func expiredLast() throws {
        let key = try Keys.key(.es256)
        let late = 1_900_000_000.0
        let token = try forge(key)
        #expect(refusal(token, key.verificationKey, now: late) == .expired)
        #expect(refusal(String(token.dropLast(4)) + "AAAA", key.verificationKey, now: late) == .signatureInvalid)
        for (name, value) in [("aud", "x"), ("iss", "x"), ("sub", "")] as [(String, JSONValue)] {
            var claims = goodClaims
            claims[name] = value
            let reason = refusal(try forge(key, payload: claims.serialized()), key.verificationKey, now: late)
            #expect(reason != .expired && reason != nil)
        }
        var rules = goodRules
        rules.additional = [.claim("tenant", is: "a")]
        #expect(refusal(token, key.verificationKey, rules, now: late) == .claimMissing)
        rules = goodRules
        rules.acceptsExpired = true
        #expect(refusal(token, key.verificationKey, rules, now: late) == nil)
    }

    @Test(
        "The leeway is clamped to 0 to 60 seconds",
        arguments: [(-5.0, 0.0), (61, 60), (.nan, 0), (30, 30)])
    func leeway(asked: Double, given: Double) {
        #expect(ClaimsRules(leeway: asked).leeway == given)
        var rules = ClaimsRules()
        rules.leeway = asked
        #expect(rules.leeway == given)
    }

    @Test("A clock without a finite time verifies nothing", arguments: [Double.nan, .infinity, -.infinity])
    func brokenClock(time: Double) throws {
        let key = try Keys.key(.hs256)
        #expect(refusal(try forge(key), key.verificationKey, now: time) == .claimInvalid)
    }
}
