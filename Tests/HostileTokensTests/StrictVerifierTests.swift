import Encodings
import JOSE
import Testing

@testable import HostileTokens

@Suite("A strict verifier")
struct StrictVerifierTests {
    static let algorithms: [SignatureAlgorithm] = [.es256, .es384, .es512, .ed25519, .eddsa, .rs256, .ps256]

    @Test("passes every attack", arguments: algorithms)
    func passesEverything(algorithm: SignatureAlgorithm) async throws {
        let key = try Keys.key(algorithm)
        let gateway = MemoryGateway(accepts: try strictVerifier(key))
        let report = try await run(AttackCatalogue.all, gateway, material(key))
        #expect(report.complaints == [])
        #expect(report.signer == .trusted)
        #expect(report.made > 250, "\(report.summary)")
        #expect(report.exitCode == 0)
    }

    @Test("passes every attack over every transport", arguments: Transport.allCases)
    func passesOverEveryTransport(transport: Transport) async throws {
        let key = try Keys.key(.es256)
        var memory = MemoryGateway(accepts: try strictVerifier(key))
        memory.carrier = transport
        let gateway = memory
        var target = target
        target.clientAuthorization = "Basic eDp5"
        target.carrierName = transport == .cookie ? "gate" : nil
        let runner = Runner(
            target: target, transport: transport, material: try material(key), environment: .init(now: { now })
        ) {
            try gateway.answer($0)
        }
        let report = try await runner.run(AttackCatalogue.all)
        #expect(report.complaints == [])
        #expect(report.made > 250, "\(report.summary)")
    }

    @Test("passes the black-box attacks without a signer")
    func passesBlackBox() async throws {
        let key = try Keys.key(.es256)
        let gateway = MemoryGateway(accepts: try strictVerifier(key))
        let report = try await run(AttackCatalogue.all, gateway, material(key, signs: false))
        #expect(report.complaints == [])
        #expect(report.signer == .none)
        let needKey = report.results.filter { $0.info.needs.contains(.key) }
        #expect(needKey.count > 100 && needKey.allSatisfy { $0.verdict == .skipped })
        #expect(report.powers == [.blackBox, .token])
    }
}
