import PostgresForTests
import StateSurfaceTesting
import Testing

@testable import StateSurface

@Suite("The change log on PostgreSQL", .enabled(if: PrivatePostgres.isAvailable))
struct PostgresChangeLogTests {
    private struct Fleet {
        let url: String
        let cluster: PrivatePostgres
        let database: String

        init() throws {
            cluster = try PrivatePostgres.shared.get()
            database = try cluster.createDatabase()
            url = cluster.url(database: database)
        }

        func node() async throws -> any StateSurface { try await StateSurfaceFactory.open(url: url, clock: { 0 }) }
    }

    @Test("A foreign transaction that stays open neither delays nor hides a change")
    func longTransaction() async throws {
        let fleet = try Fleet()
        let (here, there) = (try await fleet.node(), try await fleet.node())
        let feed = ChangeRecorder(there)
        let long = try Connection(PostgresSettings(url: fleet.url))
        _ = try long.run("CREATE TABLE other (x INTEGER); BEGIN; INSERT INTO other VALUES (1)")
        for index in 0..<20 {
            try await here.revoke(Revocation(kind: .token, id: "t\(index)", expiresAt: 2))
            #expect(
                try await feed.hears { $0.contains(.revoked(Revocation(kind: .token, id: "t\(index)", expiresAt: 2))) })
        }
        _ = try long.run("COMMIT")
        #expect(feed.changes.count == 20)
        await here.close()
        await there.close()
    }

    @Test("A transaction that began before later ones were read is read when it commits, once")
    func lateCommit() async throws {
        let fleet = try Fleet()
        let (here, there) = (try await fleet.node(), try await fleet.node())
        let feed = ChangeRecorder(there)
        let late = try Connection(PostgresSettings(url: fleet.url))
        _ = try late.run(
            """
            SET search_path TO gatehouse; BEGIN;
            INSERT INTO change_log (origin, payload) VALUES ('late', 'f|late')
            """)
        try await here.revoke(Revocation(kind: .token, id: "early", expiresAt: 2))
        #expect(try await feed.hears { $0.contains(.revoked(Revocation(kind: .token, id: "early", expiresAt: 2))) })
        _ = try late.run("COMMIT")
        #expect(try await feed.hears { $0.contains(.familyEnded(id: "late")) })
        try await here.revoke(Revocation(kind: .token, id: "last", expiresAt: 2))
        #expect(try await feed.hears { $0.contains(.revoked(Revocation(kind: .token, id: "last", expiresAt: 2))) })
        #expect(feed.changes.filter { $0 == .familyEnded(id: "late") }.count == 1)
        await here.close()
        await there.close()
    }

    @Test("Every one of many concurrent changes is read by every other node, once, and by its own node not again")
    func exactlyOnce() async throws {
        let fleet = try Fleet()
        let nodes = [try await fleet.node(), try await fleet.node(), try await fleet.node()]
        let feeds = nodes.map { ChangeRecorder($0) }
        let count = 600
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                group.addTask {
                    try await nodes[index % 2].revoke(Revocation(kind: .token, id: "t\(index)", expiresAt: 2))
                }
            }
            try await group.waitForAll()
        }
        let wanted = Set((0..<count).map { Change.revoked(Revocation(kind: .token, id: "t\($0)", expiresAt: 2)).text })
        for feed in feeds {
            #expect(try await feed.hears { $0.count >= count })
            #expect(feed.changes.count == count)
            #expect(Set(feed.changes.map(\.text)) == wanted)
        }
        for node in nodes { await node.close() }
    }
}
