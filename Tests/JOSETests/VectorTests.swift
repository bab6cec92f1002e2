import Encodings
import Testing

@testable import JOSE

@Suite struct VectorTests {
    @Test("The RFCs' signatures verify, and do not with a bit changed")
    func signatures() throws {
        let cases = try #require(try vector("rfc/jws.json")["cases"]?.arrayValue)
        #expect(cases.count == 10)
        for value in cases {
            let vector = try #require(value.objectValue)
            let id = try #require(vector["id"]?.stringValue)
            let jwk = try #require(vector["key"]?.objectValue)
            let algorithm = try #require(vector["algorithm"]?.stringValue.flatMap(SignatureAlgorithm.init(name:)))
            let text = try #require(vector["token"]?.stringValue)
            let payload = try #require(vector["payload"]?.stringValue.flatMap { Base64URL.decode($0) })
            let key = try SigningKey(jwk: jwk, algorithm: jwk["alg"] == nil ? algorithm : nil)
            #expect(key.algorithm == algorithm || id == "RFC 7520 4.2", "\(id)")

            let token = try UnverifiedToken(text)
            let verifier = try VerificationKey(jwk: jwk, algorithm: algorithm)
            var changed = Array(text.utf8)
            changed[changed.count - 10] = changed[changed.count - 10] == 0x41 ? 0x42 : 0x41
            if vector["detached"] == true {
                #expect(accepted(token.verifySignature(with: verifier, detachedPayload: payload)), "\(id)")
                #expect(!accepted(token.verifySignature(with: verifier, detachedPayload: payload + [0])), "\(id)")
                #expect(!accepted(token.verifySignature(with: verifier)), "\(id)")
            } else {
                #expect(token.unverifiedPayload == payload, "\(id)")
                #expect(accepted(token.verifySignature(with: verifier)), "\(id)")
                #expect(!accepted(try UnverifiedToken(changed).verifySignature(with: verifier)), "\(id)")
            }
            if vector["deterministic"] == true {
                let input = Array(text.utf8.prefix(token.signingInputCount))
                #expect(try key.signature(over: input) == token.signature, "\(id)")
            }
        }
    }

    @Test("The RFCs' thumbprints are computed")
    func thumbprints() throws {
        let cases = try #require(try vector("rfc/thumbprints.json")["cases"]?.arrayValue)
        #expect(cases.count == 2)
        for value in cases {
            let vector = try #require(value.objectValue)
            let id = try #require(vector["id"]?.stringValue)
            let key = try VerificationKey(jwk: try #require(vector["key"]?.objectValue))
            #expect(key.thumbprint == vector["thumbprint"]?.stringValue, "\(id)")
        }
    }

    /// RFC 7515 A.1-A.4, RFC 7520 4.1-4.5 and RFC 8037 A.4 are all the compact examples there are.
    @Test("Every compact example of the RFCs is present, by id")
    func complete() throws {
        let cases = try #require(try vector("rfc/jws.json")["cases"]?.arrayValue)
        let ids = Set(cases.compactMap { $0.objectValue?["id"]?.stringValue })
        #expect(
            ids == [
                "RFC 7515 A.1", "RFC 7515 A.2", "RFC 7515 A.3", "RFC 7515 A.4", "RFC 7520 4.1", "RFC 7520 4.2",
                "RFC 7520 4.3", "RFC 7520 4.4", "RFC 7520 4.5", "RFC 8037 A.4",
            ])
    }

    @Test(
        "The RFCs' examples that are not signed compact tokens are refused",
        arguments: [
            // RFC 7515 A.5: the unsecured JWS.
            (
                "RFC 7515 A.5",
                "eyJhbGciOiJub25lIn0.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9"
                    + "pc19yb290Ijp0cnVlfQ."
            ),
            // RFC 7515 A.6 and RFC 7520 4.8: the general JSON serialization, several signatures.
            (
                "RFC 7515 A.6",
                #"{"payload":"eyJpc3MiOiJqb2UifQ","signatures":[{"protected":"eyJhbGciOiJSUzI1NiJ9","#
                    + #""header":{"kid":"2010-12-29"},"signature":"AA"}]}"#
            ),
            // RFC 7515 A.7, RFC 7520 4.6 and 4.7: the flattened serialization, with members that are not signed.
            (
                "RFC 7515 A.7",
                #"{"payload":"eyJpc3MiOiJqb2UifQ","protected":"eyJhbGciOiJFUzI1NiJ9","#
                    + #""header":{"kid":"e9bc097a-ce51-4036-9562-d2ade882db0d"},"signature":"AA"}"#
            ),
        ])
    func noCompactToken(id: String, text: String) throws {
        for algorithm in available {
            let key = try Keys.key(algorithm).verificationKey
            let reason = refusal(text, key, ClaimsRules(requiredClaims: []))
            #expect(reason == .malformed || reason == .algorithmNotAllowed, "\(id)")
        }
    }

    private func accepted(_ result: Result<VerifiedPayload, TokenRefusal>) -> Bool {
        if case .success = result { true } else { false }
    }
}
