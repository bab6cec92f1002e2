import Encodings
import JOSE
import Testing

@testable import HostileTokens

@Suite("A strict verifier")
struct StrictVerifierTests {
    static let algorithms: [SignatureAlgorithm] = [.es256, .es384, .es512, .ed25519, .eddsa, .rs256, .ps256]

    @Test("Passes every attack", arguments: algorithms)
    func passesEverything(algorithm: SignatureAlgorithm) async throws {
        let key = try Keys.key(algorithm)
        let gateway = MemoryGateway(accepts: try strictVerifier(key))
        let report = try await run(AttackCatalogue.all, gateway, material(key))
        #expect(report.complaints == [])
        #expect(report.signer == .trusted)
        #expect(report.results.count > 250, "\(report.summary)")
        #expect(report.exitCode == 0)
    }

    @Test("Passes every attack over every transport", arguments: Transport.allCases)
    func passesOverEveryTransport(transport: Transport) async throws {
        let key = try Keys.key(.es256)
        let gateway = MemoryGateway(accepts: try strictVerifier(key))
        let target = Target(
            authority: "127.0.0.1:8080", sessionID: "ses_AAAAAAAAAAAAAAAAAAAAAA", clientAuthorization: "Basic eDp5")
        let runner = Runner(
            target: target, transport: transport, material: try material(key), surroundings: .init(now: { now })
        ) {
            try gateway.answer($0)
        }
        let report = try await runner.run(AttackCatalogue.all)
        #expect(report.complaints == [])
        #expect(report.results.count > 250, "\(report.summary)")
    }

    @Test("Passes the black-box attacks without a signer")
    func passesBlackBox() async throws {
        let key = try Keys.key(.es256)
        let gateway = MemoryGateway(accepts: try strictVerifier(key))
        let report = try await run(AttackCatalogue.all, gateway, material(key, signs: false))
        #expect(report.complaints == [])
        #expect(report.signer == .none)
        #expect(report.skipped.filter { $0.attack.mode == .signed }.count > 100)
        #expect(report.results.allSatisfy { $0.attack.mode == .blackBox })
    }
}
