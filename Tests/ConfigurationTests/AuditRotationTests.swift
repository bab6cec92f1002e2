import Encodings
import Foundation
import Logging
import Testing

@testable import gatehouse

/// What a command writes between the rotation of an audit log and the moment when the gateway opens the new file.
@Suite("Rotating the audit log") struct AuditRotationTests {
    private static let logger = Logger(label: "audit-tests") { _ in SwiftLogNoOpLogHandler() }

    /// The files of a folder of its own.
    private static func paths() throws -> (log: String, old: String) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-audit-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return (folder.path + "/audit.jsonl", folder.path + "/audit.jsonl.1")
    }

    private static func lines(_ files: String...) throws -> Int64 {
        var verification = AuditVerification()
        for file in files {
            verification.beginFile()
            try verification.update(Array(try Data(contentsOf: URL(filePath: file))))
            try verification.finish()
        }
        return verification.lines
    }

    private static func command(_ path: String) throws {
        try AuditRotation.file(of: path).append([(1_700_000_000_001, ["event": .string("account.added")])])
    }

    @Test("A command between the move and SIGHUP writes where the gateway writes, and the chain stays whole")
    func between() throws {
        let (path, old) = try Self.paths()
        let log = try AuditLog(path: path, logger: Self.logger) { 1_700_000_000_000 }
        log.record("first", [:])
        try Self.command(path)
        try FileManager.default.moveItem(atPath: path, toPath: old)
        try Self.command(path)
        log.record("second", [:])
        try Self.command(path)
        log.reopen()
        log.record("third", [:])
        log.close()
        try Self.command(path)
        #expect(try String(contentsOfFile: old, encoding: .utf8).components(separatedBy: "account.added").count == 4)
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("account.added"))
        #expect(try Self.lines(path) > 0 && Self.lines(old, path) > Self.lines(old))
    }

    @Test("Without a gateway the new file goes on from the one that was moved last")
    func alone() throws {
        let (path, old) = try Self.paths()
        try Self.command(path)
        try FileManager.default.moveItem(atPath: path, toPath: old)
        try Self.command(path)
        try Self.command(path)
        // One that says where it goes on from, and two of the commands.
        #expect(try Self.lines(old) == 1 && Self.lines(old, path) == 4)
    }

    @Test("A log that is a link to an empty file goes on from the one that was moved last")
    func link() throws {
        let (path, old) = try Self.paths()
        try Self.command(path)
        try FileManager.default.moveItem(atPath: path, toPath: old)
        try Data().write(to: URL(filePath: path + "x"))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + "x")
        try Self.command(path)
        #expect(try Self.lines(old, path) == 3)
    }

    @Test("Compressed and foreign files beside the log do not count")
    func others() throws {
        let (path, _) = try Self.paths()
        for name in [path + ".2.gz", path + "x", (path as NSString).deletingPathExtension + ".1"] {
            try "rubbish".write(toFile: name, atomically: true, encoding: .utf8)
        }
        try Self.command(path)
        #expect(try Self.lines(path) == 1)
    }
}
