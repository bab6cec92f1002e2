import Foundation
import Testing

/// What `gatehouse attack` writes for others, judged by others.
@Suite("Reports and vectors of the attack command", .blocking(limit: .seconds(300))) struct AttackReportTests {
    private struct Judged: Decodable {
        let version: String
        let refuses: Bool
        let results: Int
        let rules: Bool
        let junitFailures: Int
        let junitSaid: Int
        let junitCases: Int
        let junitTests: Int
    }

    @Test(
        "The SARIF is valid by the model of the standard, and the JUnit counts what it lists",
        .enabled(if: Program.pythonHas("pydantic_sarif"), "pydantic-sarif is not installed"))
    func reports() throws {
        let (process, output) = try Program.start("python3", [Program.script("target.py"), "accepts-any-token"])
        defer { process.terminate() }
        let place = try GatewayProcess.makeDirectory()
        let (sarif, junit) = (place.path + "/report.sarif", place.path + "/report.xml")
        let found = try GatewayProcess.run(
            [
                "attack", "http://127.0.0.1:\(try Program.line(output))", "--token", "the-good-token", "--only",
                "J02-opaque-*", "--only", "P08-path-*", "--rate", "5000", "--report", "sarif=\(sarif)", "--report",
                "junit=\(junit)",
            ], in: place, stateful: false)
        #expect(found.status == 1, "\(found.output)\(found.errors)")
        let judged = try Program.run("python3", [Program.script("judge_reports.py"), sarif, junit])
        try #require(judged.status == 0, "\(judged.errors)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let told = try decoder.decode(Judged.self, from: judged.output)
        #expect(told.version == "2.1.0" && told.refuses && told.rules)
        #expect(told.results > 0 && told.results >= told.junitFailures)
        #expect(told.junitFailures == told.junitSaid && told.junitFailures > 0)
        #expect(told.junitCases == told.junitTests && told.junitTests > 20)
    }

    private struct Vectors: Decodable {
        let good: Bool
        let count: Int
        let groups: [String: Int]
        let wrong: [String]
    }

    @Test(
        "Exported vectors fit their schema, and another library reads them",
        .enabled(if: Program.pythonHas("jwt, jsonschema"), "PyJWT or jsonschema is not installed"))
    func vectors() throws {
        let place = try GatewayProcess.makeDirectory()
        let file = place.path + "/vectors.json"
        let written = try GatewayProcess.run(["attack", "--export", file], in: place, stateful: false)
        #expect(written.status == 0 && written.errors.contains("3 sets"), "\(written.errors)")
        let schema = GatewayProcess.packageRoot.appendingPathComponent("docs/token-vectors.schema.json").path
        let read = try Program.run("python3", [Program.script("read_vectors.py"), file, schema])
        try #require(read.status == 0, "\(read.errors)")
        let sets = try JSONDecoder().decode([String: Vectors].self, from: read.output)
        #expect(Set(sets.keys) == ["ES256", "RS256", "EdDSA"])
        for (algorithm, set) in sets {
            #expect(set.good && set.count > 300, "\(algorithm): \(set.count)")
            #expect((set.groups["time"] ?? 0) > 10, "signed vectors are there, too")
            // A library for JWTs accepts no token that its key has not signed, and refuses what a claim forbids.
            for row in ["J01-", "J02-", "J03-", "J05-", "J06-", "J23-aud-other", "J24-", "J21-exp-past"] {
                #expect(set.wrong.filter { $0.hasPrefix(row) } == [], "\(algorithm)")
            }
            // `exp` as a string is one that PyJWT takes: a vector that is read wrongly would not show it.
            #expect(set.wrong.contains("J21-exp-string"), "\(algorithm): \(set.wrong)")
        }
        let few = try GatewayProcess.run(
            ["attack", "--export", file, "--only", "J01-*"], in: place, stateful: false)
        #expect(few.status == 0)
        let none = try GatewayProcess.run(
            ["attack", "--export", file, "--only", "R01-*"], in: place, stateful: false)
        #expect(none.status == 2 && none.errors.contains("no token is selected"), "\(none.errors)")
    }
}
