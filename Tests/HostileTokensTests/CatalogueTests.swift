import Encodings
import JOSE
import Testing

@testable import HostileTokens

@Suite("The catalogue")
struct CatalogueTests {
    @Test("Every attack has a unique id of characters that are valid in file names")
    func idsAreUnique() {
        let ids = CaseCatalogue.all.map(\.info.id)
        #expect(Set(ids).count == ids.count)
        for id in ids {
            #expect(id.contains(/^[JSROWPH][0-9]{2}-[a-z0-9-]+$/), "\(id)")
        }
    }

    @Test("Every category has attacks", arguments: AttackCategory.allCases)
    func categoriesAreUsed(category: AttackCategory) {
        #expect(!AttackCatalogue.attacks(in: [category]).isEmpty)
    }

    @Test(
        "What a standard lets a correct verifier accept is a matter of policy, and what it forbids is not",
        arguments: [
            ("J18-crit-b64-false-alone", true), ("J20-cty-jwt", true), ("J22-nbf-negative", true),
            ("J18-crit-b64-false", false), ("J20-nested", false), ("J22-nbf-null", false),
        ])
    func policies(id: String, isPolicy: Bool) throws {
        let attack = try #require(AttackCatalogue.all.first { $0.id == id })
        #expect(attack.isPolicy == isPolicy)
    }

    @Test("Every attack fails against a target that does the opposite of what is expected")
    func everyAttackCanFail() async throws {
        var failed: Set<String> = []
        for algorithm in [SignatureAlgorithm.es256, .es512, .ed25519, .eddsa, .rs256, .ps256] {
            let key = try Keys.key(algorithm)
            let material = try material(key)
            let good = [material.goodToken, try material.signedControl()]
            // Every token is accepted, but no request without one.
            let open = Runner(
                target: target, material: material, environment: .init(now: { now })
            ) { request in
                let isBare = request == Transport.authorization.bareRequest(to: target)
                return RawResponse(status: isBare ? 401 : 200)
            }
            failed.formUnion(try await open.run(AttackCatalogue.all).ids(.failed))
            // Only the two valid tokens are accepted.
            let controls = good.compactMap { Transport.authorization.request(.token($0), to: target) }
            let shut = Runner(
                target: target, material: material, environment: .init(now: { now })
            ) { request in
                RawResponse(status: controls.contains(request) ? 200 : 401)
            }
            failed.formUnion(try await shut.run(AttackCatalogue.all).ids(.failed))
        }
        // Those that need a listener, or letters that this audience does not have.
        let unfit: Set<String> = ["J06-jku-canary", "J06-x5u-canary", "J17-aud-kelvin"]
        let never = Set(AttackCatalogue.all.map(\.id)).subtracting(failed).subtracting(unfit)
        #expect(never == [])
    }

    @Test("Signed attacks differ from the control only in what they test")
    func signedAttacksAreSigned() throws {
        let key = try Keys.key(.es256)
        let material = try material(key)
        let attack = try #require(AttackCatalogue.all.first { $0.id == "J23-aud-other" })
        guard case .token(let token)? = try attack.payload(from: material) else {
            Issue.record("no token")
            return
        }
        guard case .success = try UnverifiedToken(token).verifySignature(with: key.verificationKey) else {
            Issue.record("the signature is not right")
            return
        }
    }

    @Test("A malformed token and a key set without its key are different errors")
    func materialIsChecked() throws {
        let key = try Keys.key(.es256)
        let token = Array(try key.sign(claims: goodClaims, type: "at+jwt").utf8)
        let others = Array(JWKSet.publicJSON(of: [try Keys.key(.ed25519).verificationKey]).utf8)
        #expect(throws: MaterialError(.tokenUnreadable, "")) { try AttackMaterial(goodToken: "ses_x".utf8, now: now) }
        #expect(throws: MaterialError(.keySetUnreadable, "")) {
            try AttackMaterial(goodToken: token, keySet: Array("<html>".utf8), now: now)
        }
        #expect(throws: MaterialError(.keyMissing, "")) {
            try AttackMaterial(goodToken: token, keySet: others, now: now)
        }
    }

    @Test("The description of a signer shows nothing of its key")
    func signerIsSilent() throws {
        let issuer = try #require(try material(Keys.key(.es256)).issuer)
        var text = ""
        dump(issuer, to: &text)
        #expect(!(text + "\(issuer)").contains("signature"))
    }
}
