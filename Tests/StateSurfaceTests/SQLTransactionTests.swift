import Testing

@testable import StateSurface

@Suite("Transactions whose statements wait for each other's round trip, on both databases")
struct SQLTransactionTests {
    private static let insert = "INSERT INTO nodes (id, seen_at) VALUES (?1, ?2)"

    private func names(_ engine: any SQLEngine) async throws -> [String] {
        try await engine.rows("SELECT id FROM nodes ORDER BY id", []).map { row in
            var row = row
            return try row.text()
        }
    }

    @Test("What was posted is there for the next statement, and after the commit", arguments: Backend.available)
    func posted(_ backend: Backend) async throws {
        try await backend.withEngine { engine in
            let count = try await engine.write { transaction -> Int in
                for index in 0..<10 { try transaction.post(Self.insert, [.text("n\(index)"), .integer(1)]) }
                return try transaction.execute("UPDATE nodes SET seen_at = ?1", [.integer(2)])
            }
            #expect(count == 10)
            try await engine.write { try $0.post(Self.insert, [.text("last"), .integer(1)]) }
            #expect(try await names(engine).count == 11)
        }
    }

    @Test("A posted statement that fails takes its transaction with it, and no other", arguments: Backend.available)
    func postedFailure(_ backend: Backend) async throws {
        try await backend.withEngine { engine in
            for round in 0..<3 {
                await #expect(throws: StateSurfaceError(.duplicate, "")) {
                    try await engine.write { transaction in
                        try transaction.post(Self.insert, [.text("a"), .integer(1)])
                        try transaction.post(Self.insert, [.text("a"), .integer(2)])
                        try transaction.post(Self.insert, [.text("b"), .integer(3)])
                    }
                }
                await #expect(throws: StateSurfaceError(.duplicate, "")) {
                    _ = try await engine.write { transaction in
                        try transaction.post(Self.insert, [.text("a"), .integer(1)])
                        try transaction.post(Self.insert, [.text("a"), .integer(2)])
                        return try transaction.rows("SELECT id FROM nodes", [])
                    }
                }
                #expect(try await names(engine) == (0..<round).map { "good\($0)" })
                // The same connection, with statements that may never have been prepared.
                try await engine.write { try $0.post(Self.insert, [.text("good\(round)"), .integer(1)]) }
            }
        }
    }

    @Test("Who changes its mind leaves nothing, however far it got", arguments: Backend.available)
    func abandoned(_ backend: Backend) async throws {
        try await backend.withEngine { engine in
            for steps in 0..<3 {
                await #expect(throws: StateSurfaceError(.failed, "")) {
                    try await engine.write { transaction in
                        if steps > 0 { try transaction.post(Self.insert, [.text("a"), .integer(1)]) }
                        if steps > 1 { _ = try transaction.rows("SELECT id FROM nodes", []) }
                        throw StateSurfaceError(.failed, "changed its mind")
                    }
                }
                try await engine.write { _ in }
            }
            #expect(try await names(engine).isEmpty)
        }
    }
}
