import Foundation
import Testing

/// The gateway whose mistakes are switched on, of which `make attack-broken` tries all.
@Suite("The broken gateway", .blocking(limit: .seconds(300))) struct BrokenGatewayTests {
    @Test(
        "Without a mistake nothing fails; each of some mistakes, one of a family, is caught",
        .enabled(if: Program.pythonHas("cryptography"), "cryptography is not installed"),
        .alone("some of its mistakes show in what comes within a fraction of a second"))
    func some() throws {
        let script = GatewayProcess.packageRoot.appendingPathComponent("Tests/BrokenGateway/run.py").path
        let mistakes = [
            "alg-none", "keeps-old-secret", "reusable-refresh", "any-redirect", "no-verifier", "any-origin",
            "strips-exact-names", "leaves-bodies", "relays-framing", "h2-length", "h2-lines",
            "key-rs256 algorithm-from-header", "key-eddsa unreduced-signature", "revokes-by-text", "raw-claims",
            "forks-family",
        ]
        let found = try Program.run(
            "timeout", ["480", "python3", script] + mistakes,
            environment: ["GATEHOUSE_BINARY": GatewayProcess.binary.path])
        let text = String(decoding: found.output, as: UTF8.self)
        #expect(found.status == 0, "\(text)\(found.errors)")
        #expect(text.contains("mutation score: \(mistakes.count) of \(mistakes.count) mistakes caught"), "\(text)")
    }
}
