import BasicsForTests
import PostgresForTests
import StateSurfaceTesting
import Synchronization
import Testing

@testable import StateSurface

@Suite("How long the change log on PostgreSQL is kept and read", .enabled(if: PrivatePostgres.isAvailable))
struct PostgresLogRetentionTests {
    /// A clock that stands still until it is told to move.
    private final class StandingClock: Sendable {
        private let start = ContinuousClock.now
        private let ahead = Mutex(Duration.zero)

        var now: ContinuousClock.Instant { start + ahead.withLock { $0 } }
        func advance(by duration: Duration) { ahead.withLock { $0 += duration } }
    }

    /// A node whose log grows old by the test's clock, and a connection that adds rows as other nodes do.
    private final class Fixture: Sendable {
        let url: String
        let node: PostgresEngine
        let store: SQLSurface
        let feed: ChangeRecorder
        let clock: StandingClock
        private let cluster: PrivatePostgres
        private let database: String
        private let other: Mutex<Connection>
        private let ticks = Atomic(0)

        init() async throws {
            cluster = try PrivatePostgres.shared.get()
            database = try cluster.createDatabase()
            url = cluster.url(database: database)
            let clock = StandingClock()
            self.clock = clock
            node = try await PostgresEngine(url: url, clock: { clock.now })
            store = SQLSurface(engine: node, clock: { 0 })
            feed = ChangeRecorder(store)
            let connection = try Connection(PostgresSettings(url: url))
            _ = try connection.run("SET search_path TO gatehouse")
            other = Mutex(connection)
        }

        /// Lets time pass for the node, in steps after each of which it has looked at the log: a longer time without a
        /// look is a gap.
        func pass(_ duration: Duration) async throws {
            var left = duration
            while left > .zero {
                clock.advance(by: .seconds(10))
                left -= .seconds(10)
                try await tick()
            }
        }

        /// Waits until the node has looked at the log, and read what is in it by now.
        func tick() async throws {
            let tick = Change.familyEnded(id: "tick\(ticks.add(1, ordering: .relaxed).newValue)")
            try add(tick, at: "clock_timestamp()")
            #expect(try await feed.hears { $0.contains(tick) })
        }

        /// A row of another node, added at a time by the server's clock.
        ///
        /// - Parameter number: that of its transaction; nil for the server's own.
        func add(_ change: Change, at time: String, number: String? = nil) throws {
            let insert = Self.insert(change, origin: "other", at: time, number: number)
            try other.withLock { connection in _ = try connection.run("\(insert); NOTIFY gatehouse_wake") }
        }

        /// A transaction that has added a row and has not been committed, as one that waits for a standby.
        func waitingCommit(_ change: Change, origin: String) throws -> Connection {
            let connection = try Connection(PostgresSettings(url: url))
            let insert = Self.insert(change, origin: origin, at: Self.anHourAgo)
            _ = try connection.run("SET search_path TO gatehouse; BEGIN; \(insert)")
            return connection
        }

        static let anHourAgo = "clock_timestamp() - INTERVAL '1 hour'"

        private static func insert(
            _ change: Change, origin: String, at time: String, number: String? = nil
        ) -> String {
            """
            INSERT INTO change_log (xid, origin, payload, logged_at)
            VALUES (\(number.map { "'\($0)'" } ?? "DEFAULT"), '\(origin)', '\(change.text)', \(time))
            """
        }

        /// Removes what can be removed, and says whether the row of a change is left.
        func sweepLeaves(_ change: Change) async throws -> Bool {
            _ = try await store.expireSessions(now: 1, limit: 10)
            let sql = "SELECT COUNT(*) FROM gatehouse.change_log WHERE payload = '\(change.text)'"
            return try cluster.query(sql, database: database) != "0"
        }

        /// By what the rows of the node are known.
        func origin() async throws -> String {
            try await store.revoke(Revocation(kind: .token, id: "own", expiresAt: 2))
            return try cluster.query(
                "SELECT origin FROM gatehouse.change_log WHERE payload LIKE '%own' LIMIT 1", database: database)
        }
    }

    @Test("In its first minute a node removes nothing; old rows then go, and newer ones stay")
    func firstMinute() async throws {
        let fixture = try await Fixture()
        let (old, new) = (Change.familyEnded(id: "old"), Change.familyEnded(id: "new"))
        try fixture.add(old, at: Fixture.anHourAgo)
        try fixture.add(new, at: "clock_timestamp() + INTERVAL '1 hour'")
        try await fixture.pass(.seconds(50))
        #expect(try await fixture.sweepLeaves(old))
        try await fixture.pass(.seconds(40))
        #expect(try await !fixture.sweepLeaves(old))
        #expect(try await fixture.sweepLeaves(new))
        await fixture.node.close()
    }

    @Test("A row whose commit waited for long stays until it has been visible for a minute, and keeps no other row")
    func lateRow() async throws {
        let fixture = try await Fixture()
        let (early, late) = (Change.familyEnded(id: "early"), Change.familyEnded(id: "late"))
        let commit = try fixture.waitingCommit(late, origin: "late")
        try fixture.add(early, at: Fixture.anHourAgo)
        try await fixture.pass(.seconds(100))
        #expect(try await !fixture.sweepLeaves(early))
        _ = try commit.run("COMMIT")
        #expect(try await fixture.sweepLeaves(late))
        #expect(try await fixture.feed.hears { $0.contains(late) })
        try await fixture.pass(.seconds(50))
        #expect(try await fixture.sweepLeaves(late))
        try await fixture.pass(.seconds(50))
        #expect(try await !fixture.sweepLeaves(late))
        #expect(fixture.feed.changes.filter { $0 == late }.count == 1)
        await fixture.node.close()
    }

    @Test("A commit that was given up on is told its own node however late it is done; then no own row is read again")
    func ownLateCommit() async throws {
        let fixture = try await Fixture()
        let late = Change.familyEnded(id: "late")
        let origin = try await fixture.origin()
        let commit = try fixture.waitingCommit(late, origin: origin)
        fixture.node.listener.readOwn()
        try await fixture.pass(.seconds(200))
        #expect(fixture.node.listener.readsOwn)
        _ = try commit.run("COMMIT")
        #expect(try await fixture.feed.hears { $0.contains(late) })
        // Other tests have transactions on the same server, with numbers of the same kind.
        #expect(try await eventually(within: .seconds(120)) { !fixture.node.listener.readsOwn })
        let own = Revocation(kind: .token, id: "t1", expiresAt: 2)
        try await fixture.store.revoke(own)
        try await fixture.tick()
        #expect(fixture.feed.changes.filter { $0 == .revoked(own) }.count == 1)
        await fixture.node.close()
    }

    @Test("Rows that came with a copy of another server's database are not reported, and go like the others")
    func copied() async throws {
        let fixture = try await Fixture()
        let copied = Change.familyEnded(id: "copied")
        try fixture.add(copied, at: Fixture.anHourAgo, number: "999999999999")
        try await fixture.pass(.seconds(100))
        #expect(!fixture.feed.changes.contains(copied))
        #expect(try await !fixture.sweepLeaves(copied))
        await fixture.node.close()
    }

    @Test("A node that has not looked at the log for long reads everything again")
    func gap() async throws {
        let fixture = try await Fixture()
        try await fixture.pass(.seconds(60))
        #expect(!fixture.feed.changes.contains(.reset))
        fixture.clock.advance(by: PostgresListener.longestGap)
        #expect(try await fixture.feed.hears { $0.contains(.reset) })
        try await fixture.tick()
        await fixture.node.close()
    }
}
