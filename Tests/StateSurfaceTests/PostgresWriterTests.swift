import PostgresForTests
import StateSurfaceTesting
import Synchronization
import Testing

@testable import StateSurface

@Suite("Group commit on PostgreSQL", .enabled(if: PrivatePostgres.isAvailable))
struct PostgresWriterTests {
    private static let insert = "INSERT INTO nodes (id, seen_at) VALUES (?1, ?2)"

    private func withEngine(_ body: (PostgresEngine) async throws -> Void) async throws {
        let cluster = try PrivatePostgres.shared.get()
        let engine = try await PostgresEngine(url: cluster.url(database: cluster.createDatabase()))
        do {
            try await body(engine)
            await engine.close()
        } catch {
            await engine.close()
            throw error
        }
    }

    /// Runs many writes at once, so that they share transactions.
    private func together(
        _ count: Int, on engine: PostgresEngine, _ body: @escaping @Sendable (Int, any SQLTransaction) throws -> Void
    ) async -> [Int: any Error] {
        await withTaskGroup(of: (Int, (any Error)?).self) { group in
            for index in 0..<count {
                group.addTask {
                    do {
                        try await engine.write { try body(index, $0) }
                        return (index, nil)
                    } catch {
                        return (index, error)
                    }
                }
            }
            return await group.reduce(into: [:]) { failures, result in failures[result.0] = result.1 }
        }
    }

    private struct Changed: TransactionAbort {}

    @Test("A write that fails in a group fails alone, however it fails", arguments: ["posted", "query", "abort"])
    func failsAlone(_ how: String) async throws {
        try await withEngine { engine in
            try await engine.write { try $0.post(Self.insert, [.text("taken"), .integer(1)]) }
            let failures = await together(200, on: engine) { index, transaction in
                try transaction.post(Self.insert, [.text("n\(index)"), .integer(Int64(index))])
                try transaction.record(.account(userID: "usr_\(index)"))
                guard index.isMultiple(of: 10) else { return }
                switch how {
                case "posted": try transaction.post(Self.insert, [.text("taken"), .integer(1)])
                case "query": _ = try transaction.rows("SELECT 1 / (?1 - 1)", [.integer(1)])
                default: throw Changed()
                }
            }
            #expect(Set(failures.keys) == Set(stride(from: 0, to: 200, by: 10)))
            for error in failures.values {
                if how == "abort" {
                    #expect(error is Changed)
                } else {
                    #expect((error as? StateSurfaceError)?.code == (how == "posted" ? .duplicate : .failed))
                }
            }
            var row = try #require(try await engine.rows("SELECT COUNT(*) FROM nodes", []).first)
            #expect(try row.integer() == 181)
        }
    }

    @Test("Writes that lock the same rows in opposite orders all succeed")
    func crossed() async throws {
        try await withEngine { engine in
            for name in ["a", "b"] {
                try await engine.write { try $0.post(Self.insert, [.text(name), .integer(0)]) }
            }
            let failures = await together(60, on: engine) { index, transaction in
                let order = index.isMultiple(of: 2) ? ["a", "b"] : ["b", "a"]
                for name in order {
                    _ = try transaction.execute("UPDATE nodes SET seen_at = seen_at + 1 WHERE id = ?1", [.text(name)])
                }
            }
            #expect(failures.isEmpty)
            let rows = try await engine.rows("SELECT seen_at FROM nodes ORDER BY id", [])
            for var row in rows { #expect(try row.integer() == 60) }
        }
    }

    @Test("Only what was committed is told, and all of it before the answer")
    func told() async throws {
        try await withEngine { engine in
            let heard = Mutex(Set<String>())
            let subscription = engine.observers.subscribe { change in heard.withLock { _ = $0.insert(change.text) } }
            let failures = await together(100, on: engine) { index, transaction in
                try transaction.record(.account(userID: "usr_\(index)"))
                if index.isMultiple(of: 3) { throw Changed() }
            }
            #expect(failures.count == 34)
            #expect(
                heard.withLock { $0 }
                    == Set((0..<100).filter { !$0.isMultiple(of: 3) }.map { Change.account(userID: "usr_\($0)").text }))
            subscription.cancel()
        }
    }
}
