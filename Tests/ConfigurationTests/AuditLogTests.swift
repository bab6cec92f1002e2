import Answers
import Encodings
import Foundation
import Logging
import Testing

@testable import gatehouse

@Suite("The audit log")
final class AuditLogTests {
    private let path = NSTemporaryDirectory() + "gatehouse-audit-\(UUID().uuidString).jsonl"
    private let logger = Logger(label: "audit-tests") { _ in SwiftLogNoOpLogHandler() }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private func open() throws -> AuditLog {
        try AuditLog(path: path, logger: logger) { 1_700_000_000_000 }
    }

    private func bytes() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    private func check(_ bytes: [UInt8]) throws(AuditVerification.Break) -> Int64 {
        var verification = AuditVerification()
        try verification.update(bytes)
        try verification.finish()
        return verification.lines
    }

    @Test("Lines chain from the first to the last, also across restarts")
    func chains() throws {
        for round in 0..<3 {
            let log = try open()
            for line in 0..<10 { log.record("test", ["round": .integer(Int64(round)), "line": .integer(Int64(line))]) }
            log.close()
        }
        #expect(try check(try bytes()) == 33)
    }

    @Test("Any changed, removed, moved or added byte breaks the chain")
    func findsChanges() throws {
        let log = try open()
        for line in 0..<4 { log.record("test", ["line": .integer(Int64(line))]) }
        log.close()
        let good = try bytes()
        for index in stride(from: 0, to: good.count, by: 7) {
            var bad = good
            bad[index] ^= 1
            #expect(throws: AuditVerification.Break.self) { try check(bad) }
        }
        let lines = good.split(separator: UInt8(ascii: "\n")).map { Array($0) + [UInt8(ascii: "\n")] }
        #expect(throws: AuditVerification.Break.self) { try check(Array(lines.dropFirst().joined())) }
        #expect(throws: AuditVerification.Break.self) { try check(Array((lines[...1] + lines[3...]).joined())) }
        #expect(throws: AuditVerification.Break.self) { try check(Array((lines + [lines[4]]).joined())) }
        #expect(throws: AuditVerification.Break.self) { try check(Array(good.dropLast())) }
        #expect(
            throws: AuditVerification.Break(line: 2, reason: "the line was changed, or lines before it were removed")
        ) { try check(lines[0] + Array("{}\n".utf8)) }
    }

    @Test("Two writers can't share a file")
    func hasOneWriter() throws {
        let log = try open()
        _ = withExtendedLifetime(log) {
            #expect(throws: CommandFailure.self) { try open() }
        }
    }

    @Test("A line that a crash cut off is dropped, and the chain goes on behind the last whole one")
    func survivesACrash() throws {
        do {
            let log = try open()
            log.record("test", [:])
            log.close()
        }
        let torn = Array(try bytes().dropLast(5))
        try Data(torn).write(to: URL(filePath: path))
        try open().close()
        // Opened; dropped: its number is taken again by the note about it; opened again.
        #expect(try check(try bytes()) == 3)
        #expect(String(decoding: try bytes(), as: UTF8.self).contains("audit.torn"))
    }

    @Test("What is cut off is removed, and its length and hash recorded")
    func recordsWhatWasTorn() throws {
        try Data("{\"seq\":1,\"ti".utf8).write(to: URL(filePath: path))
        try open().close()
        let text = String(decoding: try bytes(), as: UTF8.self)
        #expect(text.contains("\"event\":\"audit.torn\",\"bytes\":12,"))
        #expect(try check(try bytes()) == 2)
    }

    @Test("A log whose last line is damaged is not continued")
    func refusesADamagedEnd() throws {
        try Data("{\"seq\":1}\n".utf8).write(to: URL(filePath: path))
        #expect(throws: CommandFailure.self) { try open() }
    }

    @Test("Credentials and session ids never reach the file")
    func scrubs() throws {
        let log = try open()
        log.record(
            "test",
            [
                "a": "sec_abcdefghijklmnop", "b": .array(["x ses_abcdefghijklmnop y"]),
                "c": ["d": "tkt_abcdefghijklmnop"],
                "e": "Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl", "user": "usr_abcdefghijklmnop",
            ])
        log.close()
        let text = String(decoding: try bytes(), as: UTF8.self)
        // Only the user's id is left whole.
        #expect(text.ranges(of: "efghijklmnop").count == 1)
        #expect(!text.contains("eyJzdWIiOiJhIn0"))
        #expect(text.contains("sec_abcd…") && text.contains("ses_abcd…") && text.contains("eyJhbGci…"))
    }

    @Test("Each kind of credential that the gateway issues is shortened", arguments: CredentialPrefix.all)
    func shortens(prefix: CredentialPrefix) {
        let credential = String(decoding: prefix.bytes, as: UTF8.self) + String(repeating: "A1b-", count: 11)
        let shown = "\(credential.prefix(8))…"
        #expect(AuditScrub.clean(credential) == shown)
        let (text, cleaned) = ("é\(credential), 'x-\(credential)' é", "é\(shown), 'x-\(shown)' é")
        #expect(AuditScrub.clean(text) == cleaned)
        #expect(AuditScrub.clean(cleaned) == cleaned)
    }

    private static let long = String(repeating: "aB3_", count: 11)

    @Test(
        "A token is shortened however its header begins",
        arguments: [
            "eyAiYWxnIjoiRVMyNTYifQ.eyJzdWIiOiJhbGljZSJ9.\(long)", "ewogImFsZyI6IkVTMjU2In0..\(long)",
            "IHsiYWxnIjoiSFMyNTYifQ.ICB7InN1YiI6ImEifQ.\(long).",
            "ewoiYWxnIjoiZGlyIn0gICA..48V1_ALb6US04U3b.5eym.XFBoMYUZodetZdvTiFvSkQ",
        ])
    func shortens(token: String) {
        let said = AuditScrub.clean("Bearer \(token) was sent")
        #expect(said == "Bearer \(token.prefix(8))… was sent")
    }

    @Test(
        "Host names, versions and key ids are not",
        arguments: [
            "a-gateway-with-a-long-name.the-namespace-of-production.svc.cluster.local", "1.20.300-beta.4",
            "elasticsearch-master.observability-stack.example", long, "a.b.c", "...", "audit.2026-01-01.jsonl",
            "a-gateway-with-a-long-name.the-namespace-of-production.example.", "code_redirect_mismatch", "spec_1",
        ])
    func leaves(text: String) {
        #expect(AuditScrub.clean("of \(text), once") == "of \(text), once")
    }

    @Test("Members can't stand in for those of the chain")
    func keepsItsNames() throws {
        let log = try open()
        log.record("test", ["seq": 9, "hash": "x", "prev": "y", "time": "z", "event": "other"])
        log.close()
        #expect(try check(try bytes()) == 2)
        #expect(!String(decoding: try bytes(), as: UTF8.self).contains("other"))
    }
}
