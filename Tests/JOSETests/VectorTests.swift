import Encodings
import Testing

@testable import JOSE

@Suite struct VectorTests {
    @Test("The RFCs' own signatures verify, and not with a bit changed")
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

    @Test("The RFCs' own thumbprints come out")
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

    private func accepted(_ result: Result<VerifiedPayload, TokenRefusal>) -> Bool {
        if case .success = result { true } else { false }
    }
}
