import BasicsForTests
import Foundation
import PostgresForTests
import StateSurfaceTesting
import Synchronization
import Testing

@testable import StateSurface

@Suite("PostgreSQL that comes and goes", .serialized, .enabled(if: PrivatePostgres.isAvailable))
struct PostgresLinkTests {
    @Test("A store that went away is unavailable, and back soon after it is")
    func restart() async throws {
        let cluster = try PrivatePostgres()
        let store = try await StateSurfaceFactory.open(
            url: cluster.url(database: cluster.createDatabase()), clock: { 0 })
        try await store.insert(session: Sample.session())
        let feed = ChangeRecorder(store)
        try cluster.stop()
        await #expect(throws: StateSurfaceError(.unavailable, "")) { try await store.session(id: "ses_a") }
        await #expect(throws: StateSurfaceError(.unavailable, "")) {
            try await store.insert(session: Sample.session("ses_b", secret: 2))
        }
        // A link that was closed is noticed at once.
        #expect(try await eventually(within: .seconds(20)) { store.feedIsLost() })
        #expect(try await eventually(within: .seconds(20)) { store.sinceLastBeat() > .seconds(2) })
        #expect(feed.changes.isEmpty)
        try cluster.start()
        #expect(try await feed.hears(within: .seconds(30)) { $0.contains(.reset) })
        #expect(try await eventually(within: .seconds(20)) { store.sinceLastBeat() < .seconds(1) })
        #expect(!store.feedIsLost())
        #expect(try await store.session(id: "ses_a") != nil)
        #expect(try await store.session(id: "ses_b") == nil)
        await store.close()
        try cluster.remove()
    }

    @Test("Connections that the server closed are replaced without the caller noticing")
    func terminated() async throws {
        let cluster = try PrivatePostgres.shared.get()
        let name = try cluster.createDatabase()
        let store = try await StateSurfaceFactory.open(url: cluster.url(database: name), clock: { 0 })
        try await store.insert(session: Sample.session())
        let feed = ChangeRecorder(store)
        // With a time limit it returns when the processes have ended.
        try cluster.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '\(name)'")
        #expect(try await store.session(id: "ses_a") != nil)
        try await store.insert(session: Sample.session("ses_b", secret: 2))
        #expect(try await feed.hears(within: .seconds(20)) { $0.contains(.reset) })
        await store.close()
    }

    @Test("A database that is not there is a mistake of the configuration")
    func missingDatabase() async throws {
        let cluster = try PrivatePostgres.shared.get()
        let url = cluster.url(database: "no_such_database")
        await #expect(throws: StateSurfaceError(.misconfigured, "")) {
            try await StateSurfaceFactory.open(url: url, clock: { 0 })
        }
    }

    @Test("A server that accepts and never answers does not hold its callers, and is used again when it does")
    func silent() async throws {
        let cluster = try PrivatePostgres()
        let store = try await StateSurfaceFactory.open(
            url: cluster.url(database: cluster.createDatabase()), clock: { 0 })
        try await store.insert(session: Sample.session())
        let feed = ChangeRecorder(store)
        try cluster.pause()
        let start = ContinuousClock.now
        await #expect(throws: StateSurfaceError(.unavailable, "")) {
            try await store.insert(session: Sample.session("ses_b", secret: 2))
        }
        #expect(start.duration(to: .now) < .seconds(20))
        // By now the feed is known to be dead: the next ones are told at once, unless the machine stands still.
        var took = Duration.seconds(60)
        for _ in 0..<5 where took >= .seconds(2) {
            let next = ContinuousClock.now
            await #expect(throws: StateSurfaceError(.unavailable, "")) { try await store.session(id: "ses_a") }
            took = min(took, next.duration(to: .now))
        }
        #expect(took < .seconds(2))
        try cluster.resume()
        #expect(try await feed.hears(within: .seconds(30)) { $0.contains(.reset) })
        #expect(try await eventually(within: .seconds(20)) { (try? await store.session(id: "ses_a")) != nil })
        await store.close()
        try cluster.remove()
    }

    @Test("A lookup of the server's name that does not end holds no caller, and is not begun again")
    func slowLookup() async throws {
        let cluster = try PrivatePostgres.shared.get()
        let settings = try PostgresSettings(url: cluster.url(database: "postgres"))
        let resolver = DispatchSemaphore(value: 0)
        let lookups = Mutex(0)
        let gate = ConnectGate {
            lookups.withLock { $0 += 1 }
            resolver.wait()
            return try settings.connect()
        }
        let worker = PostgresWorker(gate, patience: .milliseconds(50))
        for _ in 0..<2 {
            await #expect(throws: PostgresFault.self) { try await worker.rows("SELECT 1", []) }
        }
        resolver.signal()
        #expect(try await eventually(within: .seconds(30)) { (try? await worker.rows("SELECT 1", [])) != nil })
        #expect(lookups.withLock { $0 } == 1)
        await worker.disconnect()
    }

    @Test(
        "A password in the URL is in no error",
        arguments: [
            "postgres://u:hunter2@localhost:1/x", "postgres://u:hunter2@h:hunter2/x", "postgres://u:x@hunter2@h/x",
        ])
    func silentPassword(_ url: String) async {
        do {
            _ = try await StateSurfaceFactory.open(url: url, clock: { 0 })
            Issue.record("opened")
        } catch {
            #expect(!String(reflecting: error).contains("hunter2"))
        }
    }
}
