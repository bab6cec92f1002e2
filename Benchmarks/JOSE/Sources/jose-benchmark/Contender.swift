import Foundation
import JOSE
import JWTKit
import Primitive

/// An implementation that signs or verifies `count` times, and returns whether all succeeded.
struct Contender {
    let name: String
    let run: (_ count: Int) async throws -> Bool

    static func all(_ subject: Subject, signing: Bool) async throws -> [Contender] {
        [
            try bare(subject, signing: signing), jose(subject, signing: signing),
            try await jwtKit(subject, signing: signing),
        ]
    }

    /// libcrypto alone, over the token's signing input.
    static func bare(_ subject: Subject, signing: Bool) throws -> Contender {
        guard let key = primitive_new(subject.pem, subject.pem.utf8.count) else { throw BenchmarkError("no key") }
        let message = Array(subject.token[..<subject.inputCount])
        var signature = [UInt8](repeating: 0, count: 1024)
        let length = primitive_sign(key, message, message.count, &signature, signature.count)
        let made = Array(signature.prefix(length))
        // The key is used by one thread at a time, which the compiler cannot see.
        nonisolated(unsafe) let primitive = key
        guard signing else {
            return Contender(name: "bare") { count in
                for _ in 0..<count where primitive_verify(primitive, message, message.count, made, made.count) != 1 {
                    return false
                }
                return true
            }
        }
        return Contender(name: "bare") { count in
            var out = [UInt8](repeating: 0, count: 1024)
            for _ in 0..<count where primitive_sign(primitive, message, message.count, &out, out.count) == 0 {
                return false
            }
            return true
        }
    }

    /// JOSE with key, token and rules prepared, as in a server.
    static func jose(_ subject: Subject, signing: Bool) -> Contender {
        let (key, token, rules, claims) = (subject.key, subject.token, Subject.rules, Subject.claims)
        guard signing else {
            let verifier = key.verificationKey
            let headers = HeaderMemo()
            return Contender(name: "JOSE") { count in
                for _ in 0..<count {
                    guard let parsed = try? UnverifiedToken(token, headers: headers),
                        case .success = parsed.verify(with: verifier, rules: rules, now: Subject.now)
                    else { return false }
                }
                return true
            }
        }
        return Contender(name: "JOSE") { count in
            for _ in 0..<count { _ = try key.sign(claims: claims, type: "at+jwt") }
            return true
        }
    }

    static func jwtKit(_ subject: Subject, signing: Bool) async throws -> Contender {
        let keys = JWTKeyCollection()
        switch subject.key.algorithm {
        case .es256: await keys.add(ecdsa: try ES256PrivateKey(pem: subject.pem))
        case .rs256: await keys.add(rsa: try Insecure.RSA.PrivateKey(pem: subject.pem), digestAlgorithm: .sha256)
        default:
            let d = try subject.key.privateJWK()["d"]?.stringValue ?? ""
            await keys.add(eddsa: try EdDSA.PrivateKey(d: padded(d), curve: .ed25519))
        }
        let token = String(decoding: subject.token, as: UTF8.self)
        let payload = AccessToken()
        let made = try await keys.sign(payload)
        _ = try await keys.verify(made, as: AccessToken.self)
        return Contender(name: "JWTKit") { count in
            for _ in 0..<count {
                if signing {
                    _ = try await keys.sign(payload)
                } else {
                    _ = try await keys.verify(token, as: AccessToken.self)
                }
            }
            return true
        }
    }

    private static func padded(_ text: String) -> String {
        text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : String($0) }.joined()
            + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}

/// The same claims and rules in JWTKit.
struct AccessToken: JWTPayload {
    var iss: IssuerClaim = "https://gate.example.com"
    var sub: SubjectClaim = "usr_AAAAAAAAAAAAAAAAAAAAAA"
    var aud = AudienceClaim(value: ["gatehouse"])
    var exp = ExpirationClaim(value: .init(timeIntervalSince1970: 2_000_000_000))
    var nbf = NotBeforeClaim(value: .init(timeIntervalSince1970: 1_700_000_000))
    var iat = IssuedAtClaim(value: .init(timeIntervalSince1970: 1_700_000_000))
    var jti: IDClaim = "0123456789abcdefABCDEF"
    var client_id = "gatehouse"
    var tenant_id = "default"
    var scope = "read write admin"
    var fid = "AAAAAAAAAAAAAAAAAAAAAA"

    func verify(using algorithm: some JWTAlgorithm) throws {
        guard iss.value == "https://gate.example.com" else { throw BenchmarkError("iss") }
        try aud.verifyIntendedAudience(includes: "gatehouse")
        try nbf.verifyNotBefore()
        try exp.verifyNotExpired()
    }
}

struct BenchmarkError: Error {
    let message: String
    init(_ message: String) { self.message = message }
}
