import BasicsForTests
import Foundation
import StateSurfaceTesting
import Synchronization
import Testing

@testable import StateSurface

@Suite("The embedded database's writer")
struct SQLiteWriterTests {
    private final class Tally: Sendable {
        private let number = Mutex(0)
        var count: Int { number.withLock { $0 } }
        func add() { number.withLock { $0 += 1 } }
    }

    private func withEngine<Result>(
        limits: WaitLimits = WaitLimits(patience: .seconds(300)), _ body: (SQLiteEngine) async throws -> Result
    ) async throws -> Result {
        let folder = NSTemporaryDirectory() + "gh-writer-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let engine = try SQLiteEngine(url: "sqlite:\(folder)/state.sqlite", limits: limits)
        do {
            let result = try await body(engine)
            await engine.close()
            return result
        } catch {
            await engine.close()
            throw error
        }
    }

    @Test("A write that fails does not affect the others of its commit")
    func failsAlone() async throws {
        try await withEngine { engine in
            let outcomes = await withTaskGroup(of: String.self) { group -> [String] in
                for index in 0..<96 {
                    group.addTask {
                        do {
                            try await engine.write { transaction in
                                _ = try transaction.execute(
                                    "INSERT INTO nodes (id, seen_at) VALUES (?1, ?2)",
                                    [.text("n\(index % 32)"), .integer(Int64(index))])
                                if index >= 64 { throw StateSurfaceError(.failed, "changed its mind") }
                            }
                            return "done"
                        } catch let error as StateSurfaceError {
                            return error.code.rawValue
                        } catch {
                            return "unforeseen"
                        }
                    }
                }
                var outcomes: [String] = []
                for await outcome in group { outcomes.append(outcome) }
                return outcomes
            }
            // Each name is inserted once; who changed its mind has left nothing behind.
            #expect(outcomes.count(where: { $0 == "done" }) == 32)
            #expect(!outcomes.contains("unforeseen"))
            var count = try #require(try await engine.rows("SELECT COUNT(*) FROM nodes", []).first)
            #expect(try count.integer() == 32)
        }
    }

    @Test("Only so many writes wait for a slow disk: the next are refused, the others done")
    func limited() async throws {
        try await withEngine(limits: WaitLimits(count: 4, patience: .seconds(300))) { engine in
            let (hold, held, refused) = (DispatchSemaphore(value: 0), Tally(), Tally())
            async let first = engine.write { _ in
                held.add()
                return hold.wait(timeout: .now() + 120) == .success
            }
            #expect(try await eventually(within: .seconds(30)) { held.count == 1 })
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<7 {
                    group.addTask {
                        do {
                            try await engine.write {
                                _ = try $0.execute(
                                    "INSERT INTO nodes (id, seen_at) VALUES (?1, 1)", [.text("n\(index)")])
                            }
                        } catch let error as StateSurfaceError where error.code == .unavailable {
                            refused.add()
                        }
                    }
                }
                #expect(try await eventually(within: .seconds(30)) { refused.count == 3 })
                hold.signal()
                try await group.waitForAll()
            }
            #expect(try await first)
            #expect(refused.count == 3)
            #expect(try await engine.rows("SELECT id FROM nodes", []).count == 4)
        }
    }

    @Test("Every value comes back as it went in")
    func values() async throws {
        try await withEngine { engine in
            let values: [SQLValue] = [
                .null, .integer(.min), .integer(.max), .text(""), .text("é 🔑"), .blob([]), .blob([0, 255, 0]),
                .text(""),
            ]
            var row = try #require(
                try await engine.rows("SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8", values).first)
            #expect(try row.optionalText() == nil)
            #expect(try row.integer() == .min)
            #expect(try row.integer() == .max)
            #expect(try row.text() == "")
            #expect(try row.text() == "é 🔑")
            #expect(try row.blob() == [])
            #expect(try row.blob() == [0, 255, 0])
            #expect(try row.text() == "")
        }
    }

    @Test("A statement that failed can be run again, with other values")
    func again() async throws {
        try await withEngine { engine in
            let insert = "INSERT INTO nodes (id, seen_at) VALUES (?1, ?2)"
            @Sendable func write(_ id: SQLValue) async throws {
                try await engine.write { _ = try $0.execute(insert, [id, .integer(1)]) }
            }
            try await write(.text("a"))
            await #expect(throws: StateSurfaceError(.duplicate, "")) { try await write(.text("a")) }
            await #expect(throws: StateSurfaceError.self) { try await write(.null) }
            try await write(.text("b"))
            #expect(try await engine.rows("SELECT id FROM nodes", []).count == 2)
        }
    }
}
