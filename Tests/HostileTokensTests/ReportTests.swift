import Encodings
import JOSE
import Testing

@testable import HostileTokens

@Suite("Reports")
struct ReportTests {
    private static func report(failures: Int = 1, open: Int = 1, passed: Int = 1) -> Report {
        var report = Report(transport: .authorization, signer: .trusted)
        report.powers = [.blackBox, .token, .key]
        let info = CaseInfo(
            id: "J00-x", title: "a <title> & \"more\"", reference: "RFC 1", expected: "401", group: "none",
            needs: [.token])
        let exchange = Exchange(
            label: "attack", sent: Array("GET / HTTP/1.1\r\n\r\n".utf8), received: [0xFF], status: 200)
        for _ in 0..<failures {
            report.results.append(
                CaseResult(info: info, verdict: .failed, status: 200, reason: "accepted", evidence: [exchange]))
        }
        for _ in 0..<passed {
            report.results.append(CaseResult(info: info, verdict: .passed, status: 401, reason: "refused"))
        }
        for _ in 0..<open {
            report.results.append(CaseResult(info: info, verdict: .inconclusive, reason: "no\nanswer\u{1}"))
        }
        report.results.append(CaseResult(info: info, verdict: .skipped, reason: "does not fit"))
        return report
    }

    @Test(
        "1 if anything failed, else 2 if anything stayed open or nothing was judged, else 0",
        arguments: [(0, 0, 3, Int32(0)), (1, 0, 3, 1), (400, 3, 0, 1), (0, 1, 3, 2), (0, 0, 0, 2)])
    func exitCode(failures: Int, open: Int, passed: Int, code: Int32) {
        #expect(Self.report(failures: failures, open: open, passed: passed).exitCode == code)
    }

    @Test("The table lists the cases that did not pass, those that were skipped, and the powers of the run")
    func table() {
        let text = Self.report().text()
        #expect(text.contains("FAIL  J00-x"))
        #expect(text.contains("skip  1 case: does not fit"))
        #expect(text.contains("????  1 case: no"))
        #expect(text.contains("powers black-box token key: 1 passed, 1 failed, 1 inconclusive, 1 skipped"))
        #expect(Self.report().text(all: true).contains("pass  J00-x"))
    }

    @Test("The JSON contains every case with its evidence, which reads back as the same bytes")
    func json() throws {
        let object = try StrictJSON.object(Self.report().json(target: "http://127.0.0.1:1/x").serialized())
        #expect(object["target"] == "http://127.0.0.1:1/x")
        #expect(object["powers"] == ["black-box", "token", "key"])
        let cases = try #require(object["cases"]?.arrayValue?.compactMap { $0.objectValue })
        #expect(cases.compactMap { $0["verdict"]?.stringValue } == ["failed", "passed", "inconclusive", "skipped"])
        let evidence = try #require(cases.first?["evidence"]?.arrayValue?.first?.objectValue)
        let exchange = try #require(Exchange(json: evidence))
        #expect(exchange == Self.report().results.first?.evidence.first)
        #expect(object["controls"]?.objectValue?["made"] != nil)
    }

    @Test("The JUnit text is well-formed XML")
    func junit() throws {
        let text = Self.report().junit
        #expect(text.contains("a &lt;title&gt; &amp; &quot;more&quot;"))
        #expect(text.contains(#"tests="4" failures="1" errors="1" skipped="1""#))
        #expect(text.contains(#"<property name="powers" value="black-box token key"/>"#))
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    }

    @Test("The SARIF contains the cases that did not pass, each with its rule")
    func sarif() throws {
        let object = Self.report().sarif(target: "http://127.0.0.1:8080/api/auth/me", version: "1.0.0")
        #expect(object["version"] == "2.1.0")
        let run = try #require(object["runs"]?.arrayValue?.first?.objectValue)
        let results = try #require(run["results"]?.arrayValue?.compactMap { $0.objectValue })
        #expect(results.map { $0["kind"]?.stringValue } == ["fail", "open"])
        #expect(results.map { $0["level"]?.stringValue } == ["error", "none"])
        let properties = try #require(run["properties"]?.objectValue)
        #expect(properties["powers"] == ["black-box", "token", "key"])
        #expect(properties["skipped"]?.objectValue?["J00-x"]?.stringValue?.hasPrefix("does not fit") == true)
    }

    @Test("Reports other than JSON contain no token")
    func noTokens() async throws {
        let material = try material(Keys.key(.es256))
        let report = try await run(AttackCatalogue.all, MemoryGateway { !$0.isEmpty }, material)
        let signature = String(decoding: material.segments.signature, as: UTF8.self)
        let texts = [report.text(all: true), report.junit, report.sarif(target: "x", version: "1").serialized()]
        #expect(texts.allSatisfy { !$0.contains(signature) })
    }
}
