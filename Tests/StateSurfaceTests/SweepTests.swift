import StateSurfaceTesting
import Testing

@testable import StateSurface

@Suite("What has expired is removed in portions", .serialized)
struct SweepTests {
    /// A kind of row that goes by a time alone, and how rows of it are made: `KEY` stands for a text and `BYTES` for
    /// bytes that no other row has, `NUMBER` for such a number, `END` for the time.
    struct Kind: CustomTestStringConvertible {
        let table: String
        let columns: String
        let values: String
        var testDescription: String { table }
        /// The column with the time.
        var end: String {
            columns.contains("expires_at") ? "expires_at" : String(columns.split(separator: " ").last ?? "")
        }
    }

    static let kinds = [
        Kind(table: "revocations", columns: "kind, id, issued_until, expires_at", values: "'token', KEY, 0, END"),
        Kind(
            table: "single_use", columns: "kind, hash, owner, payload, expires_at, created_at",
            values: "'code', BYTES, '', BYTES, END, 0"),
        Kind(table: "counters", columns: "key, slot, amount, expires_at", values: "KEY, 0, 1, END"),
        Kind(table: "token_reach", columns: "lifetime, clock_skew, good_until", values: "NUMBER, 0, END"),
        Kind(
            table: "tickets", columns: "hash, session_id, epoch, facts, expires_at",
            values: "BYTES, 'ses_a', 0, BYTES, END"),
        Kind(
            table: "clients",
            columns: "client_id, tenant_id, name, secret_hash, scope, disabled, created_at, expires_at",
            values: "KEY, 'acme', 'ci', BYTES, '', 0, 0, END"),
        Kind(
            table: "personal_tokens", columns: "hash, id, user_id, family_id, name, expires_at",
            values: "BYTES, KEY, 'usr_a', 'fam', 'ci', END"),
        Kind(
            table: "protocol_sessions", columns: "hash, tenant_id, user_id, client_id, upstream, last_used_at",
            values: "BYTES, 'acme', 'usr_a', 'cli_a', 'up', END"),
    ]

    /// Long before every margin.
    private static let longAgo = Sample.now - 365 * 86_400_000
    private static let beyondOnePortion = 2 * SQLSurface.removalPortion + 1

    private func fill(
        _ engine: any SQLEngine, _ kind: Kind, from first: Int, count: Int, end: Milliseconds
    ) async throws {
        try await engine.write { transaction in
            let values = kind.values.replacing("KEY", with: "'k' || i")
                .replacing("BYTES", with: "CAST('k' || i AS \(transaction.dialect.blobType))")
                .replacing("NUMBER", with: "i").replacing("END", with: "CAST(?1 AS BIGINT)")
            let sql = """
                WITH RECURSIVE numbers(i) AS
                (SELECT \(first) UNION ALL SELECT i + 1 FROM numbers WHERE i < \(first + count - 1))
                INSERT INTO \(kind.table) (\(kind.columns)) SELECT \(values) FROM numbers
                """
            _ = try transaction.execute(sql, [.integer(end)])
        }
    }

    private func count(_ engine: any SQLEngine, _ table: String) async throws -> Int64? {
        var row = try await engine.rows("SELECT COUNT(*) FROM \(table)", []).first
        return try row?.integer()
    }

    @Test(
        "More rows than one portion are gone after one sweep, and those that are needed stay",
        arguments: Backend.available)
    func everyKind(_ backend: Backend) async throws {
        try await backend.withEngine { engine in
            let store = SQLSurface(engine: engine, clock: { Sample.now })
            for kind in Self.kinds {
                try await fill(engine, kind, from: 1, count: Self.beyondOnePortion, end: Self.longAgo)
                try await fill(engine, kind, from: 1_000_000, count: 3, end: Sample.now + 1)
            }
            _ = try await store.expireSessions(now: Sample.now, limit: 10)
            for kind in Self.kinds {
                #expect(try await count(engine, kind.table) == 3, "\(kind.table)")
            }
        }
    }

    @Test("One transaction removes no more than a portion", arguments: Backend.available, kinds)
    func portion(_ backend: Backend, _ kind: Kind) async throws {
        try await backend.withEngine { engine in
            try await fill(engine, kind, from: 1, count: Self.beyondOnePortion, end: Self.longAgo)
            for expected in [SQLSurface.removalPortion, SQLSurface.removalPortion, 1, 0] {
                let removed = try await engine.write { transaction in
                    try transaction.removeSome(
                        from: kind.table, where: "\(kind.end) <= ?1", [.integer(Self.longAgo)])
                }
                #expect(removed == expected)
            }
        }
    }

    @Test(
        "A family goes when the last of its tokens has gone, however many sweeps that takes",
        arguments: Backend.available)
    func familyOfManyTokens(_ backend: Backend) async throws {
        try await backend.withEngine { engine in
            let store = SQLSurface(engine: engine, clock: { Sample.now })
            try await store.insert(family: Sample.family())
            let tokens = Kind(
                table: "refresh_tokens", columns: "hash, family_id, position", values: "BYTES, 'fam', NUMBER + 0 * END")
            let oneSweep = SQLSurface.removalPortion * SQLSurface.forgetRounds
            try await fill(engine, tokens, from: 1, count: oneSweep + 500, end: 0)
            let before = try #require(try await count(engine, "refresh_tokens"))
            let gone = Sample.now + 1_000_000 + SQLSurface.familyMargin
            _ = try await store.expireSessions(now: gone - 1, limit: 10)
            #expect(try await count(engine, "refresh_tokens") == before)
            _ = try await store.expireSessions(now: gone, limit: 10)
            #expect(try await count(engine, "refresh_tokens") == before - Int64(oneSweep))
            #expect(try await store.family(id: "fam") != nil)
            _ = try await store.expireSessions(now: gone, limit: 10)
            #expect(try await count(engine, "refresh_tokens") == 0)
            #expect(try await store.family(id: "fam") == nil)
        }
    }

    @Test("Ended sessions go with what belongs to them, more than one batch in a sweep", arguments: Backend.available)
    func tombstones(_ backend: Backend) async throws {
        try await backend.withEngine { engine in
            let store = SQLSurface(engine: engine, clock: { Sample.now })
            for index in 0..<120 { try await store.insert(session: Sample.session("ses_\(index)", secret: index)) }
            let executions = Kind(
                table: "executions", columns: "session_id, intent_id, intent, fingerprint, node_id, epoch, created_at",
                values: "'ses_7', KEY, 'echo', BYTES, 'n1', 0, END")
            try await fill(engine, executions, from: 1, count: Self.beyondOnePortion, end: Sample.now)
            let ended = try await store.expireSessions(now: Sample.now + 60_000, limit: 500)
            #expect(ended.ids.count == 120)
            _ = try await store.expireSessions(now: Sample.now + 599_999, limit: 500)
            #expect(try await count(engine, "sessions") == 120)
            #expect(try await count(engine, "executions") == Int64(Self.beyondOnePortion))
            _ = try await store.expireSessions(now: Sample.now + 600_000, limit: 500)
            #expect(try await count(engine, "sessions") == 0)
            #expect(try await count(engine, "executions") == 0)
        }
    }

    @Test(
        "Deliveries without a receiver become dead letters, and dead letters are removed, all of them",
        arguments: Backend.available)
    func deliveries(_ backend: Backend) async throws {
        try await backend.withEngine { engine in
            let store = SQLSurface(engine: engine, clock: { Sample.now })
            let deliveries = Kind(
                table: "deliveries",
                columns: "id, receiver, lane, event_id, payload, created_at, attempts, due_at",
                values: "KEY, 'r1', 'l', 'e', '{}', END, 0, 0")
            try await fill(engine, deliveries, from: 1, count: Self.beyondOnePortion, end: Self.longAgo)
            try await fill(engine, deliveries, from: 1_000_000, count: 3, end: Sample.now)
            let deadLettered = try await store.sweepDeliveries(
                createdUntil: Self.longAgo, deadLetteredUntil: 0, at: Sample.now)
            #expect(deadLettered == Self.beyondOnePortion)
            #expect(try await store.waitingDeliveries(receiver: "r1", limit: 10) == 3)
            let again = try await store.sweepDeliveries(
                createdUntil: Self.longAgo, deadLetteredUntil: Sample.now, at: Sample.now + 1)
            #expect(again == 0)
            #expect(try await count(engine, "deliveries") == 3)
        }
    }
}
