import Foundation
import Testing

/// `gatehouse attack` against targets that answer badly, or not at all.
@Suite("Targets that attack back", .blocking(limit: .seconds(300)))
struct HostileTargetTests {
    @Test(
        "Any answer but success is a stranger's refusal",
        arguments: ["strict", "forbids", "redirects", "endless-body", "interim-flood", "two-answers", "closes"])
    func refusals(mode: String) throws {
        let found = try AttackRun.on(mode, AttackRun.opaque)
        #expect(found.status == 0 && Set(found.verdicts.values) == ["passed"], "\(found.output)")
        #expect(found.verdicts.count == 6)
    }

    @Test("What lets a wrong token in fails, in a header and in a subprotocol")
    func acceptance() throws {
        let found = try AttackRun.on("accepts-any-token", AttackRun.opaque)
        #expect(found.status == 1 && found.verdicts["J02-opaque-doubled"] == "failed", "\(found.output)")
        let socket = try AttackRun.on(
            "any-subprotocol", AttackRun.opaque,
            profile: AttackRun.profile("{carrier: subprotocol, command: 'printf the-good-token'}"), token: false)
        #expect(socket.status == 1 && socket.verdicts["J02-opaque-doubled"] == "failed", "\(socket.output)")
    }

    @Test(
        "A target that cannot be judged leaves everything open",
        arguments: [
            "lets-everything-in", "garbage", "http-0.9", "endless-header", "endless-line", "drips", "mute",
        ])
    func unjudged(mode: String) throws {
        let found = try AttackRun.on(mode, AttackRun.opaque + ["--timeout", "2"])
        #expect(found.status == 2 && Set(found.verdicts.values) == ["inconclusive"], "\(found.output)")
    }

    @Test("A target that answers the good token and nothing else is not asked for ever")
    func silence() throws {
        let found = try AttackRun.on("silence", AttackRun.opaque + ["--timeout", "2"])
        #expect(found.status == 2, "\(found.output)\(found.errors)")
        #expect(Set(found.verdicts.values) == ["inconclusive"], "\(found.verdicts)")
    }

    @Test("A target whose answers do not end is not asked for ever")
    func endlessAnswers() throws {
        let found = try AttackRun.on("endless-answers", AttackRun.opaque + ["--timeout", "6"])
        #expect(found.status == 2, "\(found.output)\(found.errors)")
        #expect(found.output.contains("not made: 5 answers to the good token in a row did not end"), "\(found.output)")
    }

    @Test(
        "What a target sends without end takes no memory, and is no end of a socket",
        arguments: [
            ("endless-body", "J02-opaque-*", Int32(0)), ("endless-header", "J02-opaque-*", 2),
            ("endless-line", "J02-opaque-*", 2), ("socket-flood", "W14-*", 1),
        ])
    func floods(mode: String, cases: String, status: Int32) throws {
        let (process, output) = try Program.start("python3", [Program.script("target.py"), mode])
        defer { process.terminate() }
        let target = "http://127.0.0.1:\(try Program.line(output))"
        let place = try GatewayProcess.makeDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        let profile = place.appendingPathComponent("profile.yaml")
        try AttackRun.profile("{carrier: header, command: 'printf the-good-token'}", carrier: "header")
            .write(to: profile, atomically: true, encoding: .utf8)
        let run = try Program.run(
            "python3",
            [
                Program.script("bounded.py"), GatewayProcess.binary.path, "attack", target, "--profile", profile.path,
                "--only", cases, "--rate", "5000",
            ])
        let text = String(decoding: run.output, as: UTF8.self)
        #expect(run.status == status, "\(text)\(run.errors)")
        // The target would send a gigabyte.
        let peak = Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
        #expect(peak.map { $0 < 400_000 } == true, "\(text) KiB")
    }

    @Test("A target that dies leaves what follows open, and fails nothing")
    func death() throws {
        let found = try AttackRun.on("dies", AttackRun.opaque)
        #expect(found.status == 2, "\(found.output)")
        #expect(!found.verdicts.values.contains("failed") && found.verdicts["J02-opaque-null"] == "inconclusive")
        let closed = try AttackRun.at("http://127.0.0.1:1", ["--token", "x"] + AttackRun.opaque)
        #expect(closed.status == 2 && Set(closed.verdicts.values) == ["inconclusive"])
    }
}
