import Encodings
import Testing

@testable import JOSE

/// Claims are read from the JSON text. Their values must be those of the parsed object.
@Suite struct ClaimsTests {
    private func token(_ payload: String) throws -> UnverifiedToken {
        let header = Base64URL.encode(#"{"alg":"HS256"}"#.utf8)
        return try UnverifiedToken("\(header).\(Base64URL.encode(payload.utf8)).AAAA")
    }

    @Test(
        "Claims have the values of the parsed object",
        arguments: [
            "{}", " { } ", goodClaims.serialized(),
            #"{"iss":"","sub":"","jti":"","aud":"","client_id":"","exp":0,"nbf":0,"iat":0}"#,
            #"{"\u0069\u0073\u0073":"https:\/\/gate.example","s\u0075b":"\u0061","aud":["\u0067atehouse"]}"#,
            #"{"\u006ati":"\ud83d\ude00","client\u005fid":"\u0000","e\u0078p":1.8e9,"nb\u0066":1,"\u0069at":1.5}"#,
            #"{ "aud" : [ "a" , "b\"" , "\u00e9" , "" ] , "scope" : "read write" , "exp" : 1800000600 }"#,
            #"{"aud":[],"sub":"é","name":"日本語のとても長い名前です","é":1,"e\u0301":2,"":3,"\u0000":4}"#,
            #"{"cnf":{"jwk":{"x":[1,{"y":"]}"}]}},"roles":["a",["b",{}],null,true],"n":9007199254740993}"#,
            #"{"big":123456789012345678901234567890,"small":-1e-300,"e":1E+2,"zero":-0,"iss":"x","issuer":"y"}"#,
            #"{"client_id":{"a":1},"tenant_id":null,"act":false,"iSs":1,"is":2,"isss":3,"exp ":"x"}"#,
        ])
    func sameAsObject(payload: String) throws {
        let object = try StrictJSON.object(payload)
        let claims = try token(payload).unverifiedClaims()
        #expect(claims.members == object)
        #expect(claims.members.names.map { Array($0.utf8) } == object.names.map { Array($0.utf8) })
        for (name, value) in object.members {
            #expect(claims[name] == value, "\(name)")
            if let text = value.stringValue {
                #expect(try claims.string(name).map { Array($0.utf8) } == Array(text.utf8), "\(name)")
            } else {
                #expect(throws: TokenRefusal(.claimInvalid, "")) { try claims.string(name) }
            }
        }
        #expect(claims["not there"] == nil)
        #expect(try claims.string("not there") == nil)

        #expect(claims.issuer == object["iss"]?.stringValue)
        #expect(claims.subject == object["sub"]?.stringValue)
        #expect(claims.tokenID == object["jti"]?.stringValue)
        #expect(claims.expiresAt == object["exp"]?.doubleValue)
        #expect(claims.notBefore == object["nbf"]?.doubleValue)
        #expect(claims.issuedAt == object["iat"]?.doubleValue)
        let one = object["aud"]?.stringValue.map { [$0] }
        #expect(claims.audience == one ?? object["aud"]?.arrayValue?.compactMap(\.stringValue))
        let audience = claims.audience ?? []
        #expect(audience.allSatisfy { claims.isFor($0) })
        #expect(!claims.isFor("nobody"))
        #expect(claims.isIssuer("https://gate.example") == claims.issuer.map { $0 == "https://gate.example" })
        #expect(claims.isSubject("a") == claims.subject.map { $0 == "a" })
        #expect(claims.hasOddClientID == object["client_id"].map { $0.stringValue == nil } ?? false)
    }

    @Test(
        "The first claim of the wrong type is reported",
        arguments: [
            (#"{"iss":1}"#, "iss is not a string"), (#"{"sub":null}"#, "sub is not a string"),
            (#"{"jti":["a"],"iss":1}"#, "jti is not a string"), (#"{"\u006ati":{}}"#, "jti is not a string"),
            (#"{"aud":{}}"#, "aud is neither a string nor an array"),
            (#"{"aud":null}"#, "aud is neither a string nor an array"),
            (#"{"aud":["a",1]}"#, "a member of aud is not a string"),
            (#"{"aud":[["a"]],"exp":""}"#, "a member of aud is not a string"),
            (#"{"exp":"1"}"#, "exp is not a date in seconds"), (#"{"e\u0078p":-1}"#, "exp is not a date in seconds"),
            (#"{"nbf":9007199254740992}"#, "nbf is not a date in seconds"),
            (#"{"iat":[1]}"#, "iat is not a date in seconds"),
            (#"{"a":1,"\u0061":2}"#, "the payload is not one strict JSON object: duplicate_name at byte 7"),
            (#"{"iss":1,"exp":1e400}"#, "the payload is not one strict JSON object: number_out_of_range at byte 15"),
            (#"["iss"]"#, "the payload is not one strict JSON object: not_an_object at byte 0"),
            ("", "the payload is not one strict JSON object: malformed at byte 0"),
        ])
    func faults(payload: String, detail: String) throws {
        let token = try token(payload)
        do throws(TokenRefusal) {
            _ = try token.unverifiedClaims()
            Issue.record("\(payload) was read")
        } catch {
            #expect(error.detail == detail)
        }
    }

    @Test("Escapes in names and values hide nothing from the rules")
    func escapes() throws {
        let key = try Keys.key(.hs256)
        let good = goodClaims.serialized()
        func reason(_ from: String, _ to: String) throws -> TokenRefusal.Reason? {
            #expect(good.contains(from))
            return refusal(try forge(key, payload: good.replacing(from, with: to)), key.verificationKey)
        }
        #expect(try reason(#""aud":["gatehouse"]"#, #""aud":["x","\u0067atehouse"]"#) == nil)
        #expect(try reason(#""aud":["gatehouse"]"#, #""\u0061ud":["\u0067atehouse\u0000"]"#) == .audienceMismatch)
        #expect(try reason(#""iss":"https"#, #""\u0069ss":"\u0068ttps"#) == nil)
        #expect(try reason(#""iss":"https"#, #""iss":"\u0048ttps"#) == .issuerMismatch)
        #expect(try reason(#""jti":"t1""#, #""jti":"t1","\u006ati":"t2""#) == .malformed)
        #expect(try reason(#""client_id":"gatehouse""#, #""client\u005fid":[]"#) == .claimInvalid)
        #expect(try reason(#""client_id":"gatehouse""#, #""client\u005fid":"\u0067""#) == nil)
    }

    @Test(
        "A required claim must be present and not empty",
        arguments: [
            (nil, .claimMissing), ("null", .claimInvalid), (#""""#, .claimInvalid), ("[]", .claimInvalid),
            ("[ ]", .claimInvalid), ("{}", nil), ("0", nil), ("false", nil), ("[null]", nil), (#""\u0000""#, nil),
        ] as [(String?, TokenRefusal.Reason?)])
    func presence(value: String?, reason: TokenRefusal.Reason?) throws {
        let key = try Keys.key(.hs256)
        let rules = ClaimsRules(requiredClaims: ["tenant_id"])
        for name in ["tenant_id", #"tenant\u005fid"#] {
            let payload = value.map { #"{"a":1,"\#(name)":\#($0),"b":2}"# } ?? #"{"a":1,"tenant_ids":2}"#
            #expect(refusal(try forge(key, payload: payload), key.verificationKey, rules) == reason)
        }
    }
}
