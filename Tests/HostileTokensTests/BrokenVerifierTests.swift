import Encodings
import JOSE
import Testing

@testable import HostileTokens

@Suite("Broken verifiers")
struct BrokenVerifierTests {
    /// The attacks that must succeed on a verifier with one mistake.
    private static let findings: [(bug: LaxVerifier.Bug, ids: [String])] = [
        (.acceptsNone, ["J01-none-lowercase", "J01-none-lowercase-signed", "J01-none-escaped"]),
        (.acceptsNoneInAnyCase, ["J01-none-capitalised", "J01-none-uppercase", "J01-none-mixed"]),
        (.ignoresSignature, ["J02-payload-changed", "J02-dates-changed", "J05-unknown-key", "J33-garbage"]),
        (.acceptsEmptySignature, ["J02-removed"]),
        (.hmacWithPEM, ["J03-hs256-spki-pem", "J03-hs384-spki-pem", "J03-hs512-spki-pem"]),
        (.hmacWithJWK, ["J03-hs256-jwk", "J03-hs512-jwk-served"]),
        (.hmacWithEmptyKey, ["J03-hs256-empty", "J07-forged-empty"]),
        (.ignoresAlgorithm, ["J04-named-es384", "J04-named-hs256", "J04-lowercase", "J04-space"]),
        (.trustsEmbeddedKey, ["J05-jwk-same-kid", "J05-jwk-own-kid", "J05-jwk-without-alg", "J05-jwk-oct"]),
        (.trustsEmbeddedCertificate, ["J06-x5c"]),
        (.readsKeyFile, ["J07-forged-dev-null", "J07-forged-traversal-dev-null"]),
        (.ignoresKeyID, ["J07-signed-unknown", "J07-signed-case", "J07-signed-empty"]),
        (.acceptsZeroSignature, ["J02-zeros", "J09-zero-zero"]),
        (.acceptsDER, ["J10-der", "J33-der-trailing"]),
        (.ignoresTrailingBytes, ["J10-zero-last", "J10-zeros-last", "J10-doubled"]),
        (.ignoresPadding, ["J13-signature-padded", "J13-header-padded", "J13-payload-padded"]),
        (
            .ignoresBadBase64,
            [
                "J13-signature-unused-bits", "J13-signature-space", "J13-header-alphabet", "J13-payload-unused-bits",
                "J13-payload-question-mark",
            ]
        ),
        (.ignoresExtraSegments, ["J14-segments-four", "J14-segments-five", "J14-segments-trailing-dot"]),
        (
            .lenientJSON,
            [
                "J15-duplicate-exp-same", "J15-duplicate-exp-good-last", "J15-duplicate-sub-escaped",
                "J15-duplicate-alg-same", "J16-claim-depth-33-arrays",
            ]
        ),
        (.ignoresBadJSON, ["J16-payload-two", "J16-claim-depth-33-arrays", "J17-utf8-overlong", "J17-surrogate-high"]),
        (.ignoresCritical, ["J18-crit-unknown", "J18-crit-empty", "J18-crit-b64-false"]),
        (.ignoresType, ["J19-typ-jwt", "J19-typ-absent", "J19-typ-logout", "J19-typ-assertion", "J19-typ-nul"]),
        (.ignoresNesting, ["J20-cty-jwt"]),
        (.ignoresExpiry, ["J21-exp-missing", "J21-exp-past-two-minutes", "J21-exp-string", "J21-exp-past-an-hour"]),
        (.ignoresDatesOfOtherTypes, ["J21-exp-string", "J22-nbf-future-string", "J22-iat-object"]),
        (.ignoresNotBefore, ["J22-nbf-future", "J22-iat-future"]),
        (.ignoresLifetime, ["J21-exp-milliseconds"]),
        (.ignoresAudience, ["J23-aud-missing", "J23-aud-other", "J23-aud-array-nested", "J17-aud-nul"]),
        (.audienceBySubstring, ["J23-aud-suffix", "J23-aud-within", "J23-aud-object-key"]),
        (.ignoresIssuer, ["J24-iss-other", "J24-iss-array", "J24-iss-missing"]),
        (.issuerByPrefix, ["J24-iss-suffix", "J24-iss-userinfo", "J24-iss-slash"]),
        (.ignoresOtherClaims, ["J25-sub-missing", "J25-client-id-array", "J25-jti-empty"]),
        (.ignoresSize, ["J26-size-8k-signed"]),
    ]

    @Test("A mistake is found by the attacks for it", arguments: findings.indices)
    func mistakeIsFound(index: Int) async throws {
        let (bug, ids) = Self.findings[index]
        let key = try Keys.key(.es256)
        let verifier = LaxVerifier(key: key, bug: bug)
        let attacks = AttackCatalogue.all.filter { ids.contains($0.id) }
        let report = try await run(attacks, MemoryGateway { verifier.accepts($0) }, material(key))
        #expect(report.signer == .trusted)
        let missed = Set(ids).subtracting(report.ids(.failed))
        #expect(missed.isEmpty, "\(bug) was not found by \(missed.sorted())")
    }

    @Test("An algorithm taken from the header is found if one key fits several")
    func algorithmFromHeaderIsFound() async throws {
        for (algorithm, ids) in [
            (SignatureAlgorithm.rs256, ["J04-as-rs384", "J04-as-ps256"]), (.ed25519, ["J04-as-eddsa"]),
        ] {
            let key = try Keys.key(algorithm)
            let verifier = LaxVerifier(key: key, bug: .algorithmFromHeader)
            let attacks = AttackCatalogue.attacks(in: [.algorithm])
            let report = try await run(attacks, MemoryGateway { verifier.accepts($0) }, material(key))
            #expect(report.ids(.failed).isSuperset(of: ids))
        }
    }

    @Test("A verifier that reads any carrier is found")
    func carriersAreFound() async throws {
        let key = try Keys.key(.es256)
        var gateway = MemoryGateway(accepts: try strictVerifier(key))
        gateway.takesAnyCarrier = true
        let report = try await run(AttackCatalogue.attacks(in: [.carrier]), gateway, material(key))
        #expect(
            report.ids(.failed) == [
                "J28-carrier-two-fields", "J28-carrier-two-fields-other", "J28-carrier-field-and-query",
                "J28-carrier-query",
            ])
    }

    @Test("Every mistake except those with RSA and Ed25519 keys has its findings")
    func everyBugIsCovered() {
        #expect(Set(Self.findings.map(\.bug)) == Set(LaxVerifier.Bug.allCases).subtracting([.algorithmFromHeader]))
    }
}
