import Encodings
import JOSE
import Testing

@testable import HostileTokens

@Suite("Reports")
struct ReportTests {
    private static func report(failures: Int = 1) -> Report {
        var report = Report(transport: .authorization, signer: .trusted)
        let attack = Attack(id: "J00-x", title: "a <title> & \"more\"", reference: "RFC 1", category: .none) { _ in nil
        }
        for _ in 0..<failures {
            report.results.append(AttackResult(attack: attack, verdict: .fail, status: 200, detail: "accepted"))
        }
        report.results.append(AttackResult(attack: attack, verdict: .pass, status: 401, detail: "refused"))
        report.results.append(AttackResult(attack: attack, verdict: .inconclusive, detail: "no\nanswer\u{1}"))
        report.skipped.append(SkippedAttack(attack: attack, reason: "does not fit"))
        return report
    }

    @Test("The exit code is the number of failures, at most 125", arguments: [(0, 0), (3, 3), (125, 125), (400, 125)])
    func exitCode(failures: Int, code: Int32) {
        #expect(Self.report(failures: failures).exitCode == code)
    }

    @Test("The table names what did not pass, and the powers of the run")
    func table() {
        let text = Self.report().text()
        #expect(text.split(separator: "\n").count == 4)
        #expect(text.contains("FAIL  J00-x"))
        #expect(text.contains("black box and signed: 1 passed, 1 failed, 1 inconclusive, 1 skipped"))
        #expect(Self.report().text(all: true).contains("pass  J00-x"))
    }

    @Test("The JSON holds every attack")
    func json() throws {
        let object = try StrictJSON.object(Self.report().json.serialized())
        #expect(object["failed"]?.int64Value == 1)
        #expect(object["results"]?.arrayValue?.count == 4)
    }

    @Test("The JUnit text is well-formed XML")
    func junit() throws {
        let text = Self.report().junit
        #expect(text.contains("a &lt;title&gt; &amp; &quot;more&quot;"))
        #expect(text.contains(#"tests="4" failures="1" errors="1" skipped="1""#))
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    }

    @Test("The SARIF holds what did not pass, each with its rule")
    func sarif() throws {
        let object = Self.report().sarif(target: "http://127.0.0.1:8080/api/auth/me")
        #expect(object["version"] == "2.1.0")
        let run = try #require(object["runs"]?.arrayValue?.first?.objectValue)
        #expect(run["results"]?.arrayValue?.count == 2)
        #expect(run["results"]?.arrayValue?.first?.objectValue?["level"] == "error")
    }

    @Test("No report holds the good token")
    func noTokens() async throws {
        let material = try material(Keys.key(.es256))
        let report = try await run(
            AttackCatalogue.all, MemoryGateway { !$0.isEmpty }, material)
        let signature = String(decoding: material.segments.signature, as: UTF8.self)
        let texts = [
            report.text(all: true), report.json.serialized(), report.junit, report.sarif(target: "x").serialized(),
        ]
        #expect(texts.allSatisfy { !$0.contains(signature) })
    }
}
