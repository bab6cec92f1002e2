import DocumentationForTests
import HostileTokens
import JOSE
import Testing

/// The article of `HostileTokens` on parameterised tests, run as an adopter would.
@Suite("Article: hostile tokens as test arguments") struct TokensAsArgumentsTests {
    private static let now: Int64 = 1_800_000_000

    // snippet
    /// The service under test, and what an attacker has: a token that it accepts, and the keys that it trusts.
    struct Orders {
        let key: SigningKey
        let material: AttackMaterial
        let rules = ClaimsRules.accessToken(issuer: "https://issuer.example", audience: ["orders"], leeway: 30)

        init(now: Int64) throws {
            key = try SigningKey.generate(.es256, keyID: "orders-1")
            let claims: JSONObject = [
                "iss": "https://issuer.example", "sub": "user-1", "aud": "orders", "exp": .integer(now + 600),
                "iat": .integer(now), "jti": "1", "client_id": "client-1",
            ]
            material = try AttackMaterial(
                goodToken: key.sign(claims: claims, type: "at+jwt").utf8,
                keySet: Array(JWKSet.publicJSON(of: [key.verificationKey]).utf8), issuer: TestIssuer(key), now: now)
        }

        /// Here it is `JOSE` that judges tokens: put your own verifier in its place.
        func accepts(_ token: [UInt8]) -> Bool {
            guard let token = try? UnverifiedToken(token),
                case .success = token.verify(with: key.verificationKey, rules: rules, now: Double(material.now))
            else { return false }
            return true
        }
    }
    // end

    // snippet
    @Test(
        "A hostile token is refused, and a good one in another spelling accepted",
        arguments: AttackCatalogue.all.filter { !$0.isPolicy })
    func attack(_ attack: Attack) throws {
        let orders = try Orders(now: Self.now)
        // Nothing to send where the attack does not fit the key, or is about the header field and not the token.
        guard case .token(let token)? = try attack.payload(from: orders.material) else { return }
        #expect(orders.accepts(token) == attack.expectation.isAccepted, "\(attack.title) (\(attack.reference))")
    }

    @Test("The control: the good token is accepted")
    func control() throws {
        let orders = try Orders(now: Self.now)
        #expect(orders.accepts(orders.material.goodToken))
    }
    // end

    // snippet
    /// What a service lets through. The function sends a request to it and returns its answer.
    static func report(of send: @escaping Runner.Send, _ material: AttackMaterial) async throws -> Report {
        let target = Target(authority: "127.0.0.1:8080", path: "/orders", socketPath: nil)
        let runner = Runner(
            target: target, material: material, environment: .init(now: { material.now }), send: send)
        return try await runner.run(AttackCatalogue.attacks(in: [.none, .signature, .time]))
    }
    // end

    // snippet
    /// The tokens of some families, for a suite in another language.
    static func vectors(now: Int64) throws -> String {
        try TokenVectors.file(AttackCatalogue.attacks(in: [.signature, .audience]), now: now).serialized()
    }
    // end

    @Test("A service in memory is judged: a strict one passes, and one that checks no signature is found out")
    func service() async throws {
        let orders = try Orders(now: Self.now)
        for (isStrict, verdict) in [(true, Verdict.passed), (false, .failed)] {
            let send: Runner.Send = { request in
                let text = String(decoding: request.bytes, as: UTF8.self)
                guard let start = text.firstRange(of: "Authorization: Bearer ") else { return RawResponse(status: 401) }
                let token = Array(text[start.upperBound...].prefix { $0 != "\r\n" }.utf8)
                let isGood = isStrict ? orders.accepts(token) : (try? UnverifiedToken(token)) != nil
                return RawResponse(status: isGood ? 200 : 401)
            }
            let report = try await Self.report(of: send, orders.material)
            let changed = report.results.first { $0.info.id == "J02-payload-changed" }
            #expect(changed?.verdict == verdict, "\(report.text())")
            #expect(report.count(.failed) == 0 || !isStrict, "\(report.text())")
        }
    }

    @Test("The vectors name their format, and hold both families")
    func vectorFile() throws {
        let file = try StrictJSON.object(try Self.vectors(now: Self.now), limits: JSONLimits(maxBytes: 1 << 20))
        #expect(file["format"]?.stringValue == TokenVectors.format)
        let groups = file["sets"]?.arrayValue?.first?.objectValue?["vectors"]?.arrayValue?.compactMap {
            $0.objectValue?["group"]?.stringValue
        }
        #expect(Set(groups ?? []) == ["signature", "audience"])
    }

    @Test("The article shows exactly what is run here")
    func page() throws {
        let shown = try DocumentedCode.shown(in: "Sources/HostileTokens/HostileTokens.docc/TokensAsArguments.md")
        #expect(try !shown.isEmpty && shown == DocumentedCode.run(in: #filePath))
    }
}
