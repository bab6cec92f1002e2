import Encodings
import Foundation
import JOSE
import Testing

@testable import gatehouse

@Suite("token verify")
struct TokenJudgementTests {
    private let key: SigningKey
    private let now = 1_700_000_000.0

    init() throws { key = try SigningKey.generate(.es256) }

    private func token(_ claims: JSONObject, type: String = "at+jwt") throws -> UnverifiedToken {
        try UnverifiedToken(try key.sign(claims: claims, type: type))
    }

    private var claims: JSONObject { ["iss": "https://i", "aud": "a", "exp": .integer(Int64(now) + 60)] }

    @Test("A good token is verified, with every rule that was asked for")
    func verifies() throws {
        let judgement = TokenJudgement(
            keys: .one(key.verificationKey), issuer: "https://i", audience: "a", type: "at+jwt")
        #expect(try judgement.verify(try token(claims), now: now).claims == claims)
    }

    @Test("Each rule that is broken is the reason")
    func refuses() throws {
        let token = try token(claims)
        let keys = TokenKeys.one(key.verificationKey)
        #expect(throws: TokenRefusal(.issuerMismatch, "")) {
            try TokenJudgement(keys: keys, issuer: "x").verify(token, now: now)
        }
        #expect(throws: TokenRefusal(.audienceMismatch, "")) {
            try TokenJudgement(keys: keys, audience: "x").verify(token, now: now)
        }
        #expect(throws: TokenRefusal(.typeMismatch, "")) {
            try TokenJudgement(keys: keys, type: "x").verify(token, now: now)
        }
        #expect(throws: TokenRefusal(.expired, "")) { try TokenJudgement(keys: keys).verify(token, now: now + 61) }
        let other = try SigningKey.generate(.es256).verificationKey
        #expect(throws: TokenRefusal(.signatureInvalid, "")) {
            try TokenJudgement(keys: .one(other)).verify(token, now: now)
        }
        #expect(throws: TokenRefusal(.keyUnknown, "")) {
            try TokenJudgement(keys: .set(try JWKSet([other]))).verify(token, now: now)
        }
    }

    @Test("Of several algorithms that were asked for, the token names the one that its key is used with")
    func choosesAmongAlgorithms() throws {
        let pem = try SigningKey.generate(.rs256).pkcs8PEM()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pem")
        try pem.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        func token(_ algorithm: SignatureAlgorithm) throws -> UnverifiedToken {
            try UnverifiedToken(try SigningKey(pem: pem, algorithm: algorithm).sign(claims: claims, type: "at+jwt"))
        }
        for asked in [[.rs256, .ps256], [.ps256, .rs256], [.es256, .ps256, .rs256]] as [[SignatureAlgorithm]] {
            let keys = try TokenKeyring(keyFile: file.path, algorithms: asked)
            let judgement = TokenJudgement(keys: keys.usual, byAlgorithm: keys.byAlgorithm)
            for algorithm in [SignatureAlgorithm.rs256, .ps256] {
                #expect(try judgement.verify(try token(algorithm), now: now).algorithm == algorithm.rawValue)
            }
            #expect(throws: TokenRefusal(.algorithmMismatch, "")) {
                try judgement.verify(try token(.rs512), now: now)
            }
        }
        #expect(throws: CommandFailure.self) { try TokenKeyring(keyFile: file.path, algorithms: [.es256, .es384]) }
    }

    @Test("A line may end with a carriage return, and with one only")
    func judgesLines() throws {
        let lines = TokenLines(judgement: TokenJudgement(keys: .one(key.verificationKey)), now: now, json: false)
        let token = Array(try key.sign(claims: claims, type: "at+jwt").utf8)
        #expect(lines.answer(to: token).isVerified && lines.answer(to: token + [0x0D]).isVerified)
        #expect(!lines.answer(to: token + [0x0D, 0x0D]).isVerified && !lines.answer(to: [0x0D]).isVerified)
    }

    @Test("With the signature alone, the payload may be empty or anything")
    func looksAtTheSignatureAlone() throws {
        let judgement = TokenJudgement(keys: .one(key.verificationKey), signatureOnly: true)
        for payload in ["", "not json", "{\"exp\":1}"] {
            let token = try UnverifiedToken(try key.sign(payload: payload.utf8))
            #expect(try judgement.verify(token, now: now).claims == nil)
        }
    }

    @Test("With the signature alone, the type still counts when asked for")
    func checksTheType() throws {
        let token = try token(claims, type: "AT+JWT")
        var judgement = TokenJudgement(keys: .one(key.verificationKey), type: "application/at+jwt", signatureOnly: true)
        #expect(try judgement.verify(token, now: now).keyID == key.keyID)
        judgement.type = "JWT"
        #expect(throws: TokenRefusal(.typeMismatch, "")) { try judgement.verify(token, now: now) }
    }
}
