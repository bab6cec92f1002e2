import JOSE

/// The token that is measured, like those of the gateway, and the rules of RFC 9068.
struct Subject {
    static let algorithms: [SignatureAlgorithm] = [.es256, .rs256, .eddsa]
    static let now = 1_800_000_000.0

    static let claims: JSONObject = [
        "iss": "https://gate.example.com", "sub": "usr_AAAAAAAAAAAAAAAAAAAAAA", "aud": ["gatehouse"],
        "exp": 2_000_000_000, "nbf": 1_700_000_000, "iat": 1_700_000_000, "jti": "0123456789abcdefABCDEF",
        "client_id": "gatehouse", "tenant_id": "default", "scope": "read write admin", "fid": "AAAAAAAAAAAAAAAAAAAAAA",
    ]

    static let rules = ClaimsRules.accessToken(
        issuer: "https://gate.example.com", audience: ["gatehouse"], leeway: 30)

    let key: SigningKey
    let pem: String
    let token: [UInt8]
    /// The length of the signing input in bytes.
    let inputCount: Int

    init(_ algorithm: SignatureAlgorithm, claims: JSONObject = claims, pem: String? = nil) throws {
        key = try pem.map { try SigningKey(pem: $0, algorithm: algorithm) } ?? SigningKey.generate(algorithm)
        self.pem = try key.pkcs8PEM()
        token = Array(try key.sign(claims: claims, type: "at+jwt").utf8)
        inputCount = token.lastIndex(of: UInt8(ascii: ".")) ?? 0
    }

    /// The complete verification, from bytes to claims.
    func isVerified(_ token: [UInt8], _ rules: ClaimsRules = rules) -> Bool {
        guard let parsed = try? UnverifiedToken(token),
            case .success = parsed.verify(with: key.verificationKey, rules: rules, now: Self.now)
        else { return false }
        return true
    }
}
