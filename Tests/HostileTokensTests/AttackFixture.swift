import Encodings

@testable import HostileTokens
@testable import JOSE

let now: Int64 = 1_800_000_000

let goodClaims: JSONObject = [
    "iss": "https://gate.example", "sub": "usr_1", "aud": ["gatehouse"], "exp": .integer(now + 600),
    "nbf": .integer(now - 10), "iat": .integer(now - 10), "jti": "t1", "client_id": "gatehouse", "tenant_id": "default",
]

/// The material for all attacks, including signed ones, on a target with this key.
func material(_ key: SigningKey, signs: Bool = true, canaryURL: String? = nil) throws -> AttackMaterial {
    try AttackMaterial(
        goodToken: key.sign(claims: goodClaims, type: "at+jwt").utf8,
        keySet: Array(JWKSet.publicJSON(of: [key.verificationKey]).utf8), issuer: signs ? TestIssuer(key) : nil,
        now: now, canaryURL: canaryURL)
}

/// A strict target, whose refusals must have the right status.
let target: Target = {
    var target = Target(authority: "127.0.0.1:8080", sessionID: "ses_AAAAAAAAAAAAAAAAAAAAAA")
    target.isStrict = true
    return target
}()

/// Runs attacks against a gateway in memory.
func run(
    _ attacks: [Attack] = AttackCatalogue.all, _ gateway: MemoryGateway, _ material: AttackMaterial,
    target: Target = target, transport: Transport = .authorization, canaryVisits: @escaping @Sendable () -> Int = { 0 }
) async throws -> Report {
    let environment = Runner.Environment(now: { now }, canaryVisits: canaryVisits)
    let runner = Runner(target: target, transport: transport, material: material, environment: environment) {
        try gateway.answer($0)
    }
    return try await runner.run(attacks)
}

/// The verifier that must refuse every attack and accept the control.
func strictVerifier(_ key: SigningKey) throws -> @Sendable ([UInt8]) -> Bool {
    let keys = try JWKSet([key.verificationKey])
    var rules = ClaimsRules.accessToken(issuer: "https://gate.example", audience: ["gatehouse"], leeway: 30)
    rules.maximumLifetime = 900
    let wanted = rules
    return { token in
        do throws(TokenRefusal) {
            guard case .success = try UnverifiedToken(token).verify(with: keys, rules: wanted, now: Double(now)) else {
                return false
            }
            return true
        } catch {
            return false
        }
    }
}

extension VerificationKey {
    /// Whether a signature is valid for the key, for any signed data.
    func verifies(_ signature: [UInt8], _ input: [UInt8]) -> Bool {
        signature.withUnsafeBufferPointer { signature in
            input.withUnsafeBufferPointer { isValid(signature, for: $0) }
        }
    }
}
