import BasicsForTests
import Dispatch
import Foundation
import StateSurfaceTesting
import Testing

@testable import StateSurface

@Suite("The SQLite file")
struct SQLiteFileTests {
    private func open(_ url: String) async throws -> any StateSurface {
        try await StateSurfaceFactory.open(url: url, clock: { 0 })
    }

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "gh-file-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    @Test("The file is made for its owner alone, the folder with it")
    func mode() async throws {
        try await withFolder { folder in
            let path = folder + "/a/b/state.sqlite"
            let store = try await open("sqlite:" + path)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let log = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.posixPermissions] as? Int
            #expect(log == 0o600)
            await store.close()
        }
    }

    @Test("A store that is not there is told from one that can't be looked at")
    func missing() async throws {
        try await withFolder { folder in
            let path = folder + "/state.sqlite"
            #expect(try StateSurfaceFactory.missingFile(url: "sqlite:" + path) == path)
            try Data().write(to: URL(fileURLWithPath: path))
            #expect(try StateSurfaceFactory.missingFile(url: "sqlite:" + path) == nil)
            #expect(try StateSurfaceFactory.missingFile(url: "sqlite:\(path)/below") == path + "/below")
            #expect(try StateSurfaceFactory.missingFile(url: "postgres://127.0.0.1/x") == nil)
            // Permissions would not stop root, but a link to itself stops every user.
            let circle = folder + "/circle"
            try FileManager.default.createSymbolicLink(atPath: circle, withDestinationPath: circle)
            let error = #expect(throws: StateSurfaceError.self) {
                try StateSurfaceFactory.missingFile(url: "sqlite:" + circle)
            }
            #expect(error?.code == .misconfigured)
            let message = error?.message ?? ""
            #expect(message.contains(circle) && message.contains("symbolic links"), "\(message)")
        }
    }

    @Test("A file that is no database is refused and left as it is")
    func notADatabase() async throws {
        try await withFolder { folder in
            let path = folder + "/state.sqlite"
            let content = Data("these are my holiday pictures, honest".utf8)
            try content.write(to: URL(fileURLWithPath: path))
            await #expect(throws: StateSurfaceError(.corrupt, "")) { try await open("sqlite:" + path) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
        }
    }

    @Test("A database with damaged pages is refused", arguments: [100, 4096 * 3 + 8, 4096 * 8])
    func damaged(_ offset: Int) async throws {
        try await withFolder { folder in
            let path = folder + "/state.sqlite"
            let store = try await open("sqlite:" + path)
            for index in 0..<200 {
                try await store.insert(session: Sample.session("ses_\(index)", secret: index))
            }
            await store.close()
            var data = try Data(contentsOf: URL(fileURLWithPath: path))
            try #require(data.count > offset + 4096)
            data.replaceSubrange(offset..<offset + 2048, with: Data(repeating: 0xA5, count: 2048))
            try data.write(to: URL(fileURLWithPath: path))
            await #expect(throws: StateSurfaceError(.corrupt, "")) { try await open("sqlite:" + path) }
        }
    }

    @Test("A file that was cut short is refused")
    func truncated() async throws {
        try await withFolder { folder in
            let path = folder + "/state.sqlite"
            let store = try await open("sqlite:" + path)
            try await store.insert(session: Sample.session())
            await store.close()
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            try data.prefix(data.count / 2).write(to: URL(fileURLWithPath: path))
            await #expect(throws: StateSurfaceError(.corrupt, "")) { try await open("sqlite:" + path) }
        }
    }

    @Test("A store written by a newer version is refused")
    func newer() async throws {
        try await withFolder { folder in
            let url = "sqlite:\(folder)/state.sqlite"
            let engine = try SQLiteEngine(url: url)
            try await engine.write { _ = try $0.execute("INSERT INTO schema_version (version) VALUES (999)", []) }
            await engine.close()
            await #expect(throws: StateSurfaceError(.misconfigured, "")) { try await open(url) }
        }
    }

    @Test(
        "A URL that names no file is a mistake of the configuration",
        arguments: [
            "sqlite:", "sqlite::memory:", "sqlite://host/x", "mysql://x", "", "postgres://[", "sqlite:/proc/x/y",
        ])
    func badURL(_ url: String) async {
        await #expect(throws: StateSurfaceError(.misconfigured, "")) { try await open(url) }
    }

    @Test("A write is durable: the writer syncs fully")
    func synchronous() async throws {
        try await withFolder { folder in
            let engine = try SQLiteEngine(url: "sqlite:\(folder)/state.sqlite")
            var row = try await engine.write { try $0.row("PRAGMA synchronous", []) }
            #expect(try row?.integer() == 2)
            await engine.close()
        }
    }

    @Test("A full disk is told apart, harms nothing that was written, and passes")
    func full() async throws {
        try await withFolder { folder in
            let engine = try SQLiteEngine(url: "sqlite:\(folder)/state.sqlite")
            let store = SQLSurface(engine: engine, clock: { 0 })
            try await store.insert(session: Sample.session())
            _ = try await engine.write { try $0.rows("PRAGMA max_page_count = 1", []) }
            var large = Sample.session("ses_b", secret: 2)
            large.metadata = String(repeating: "x", count: 100_000)
            let record = large
            await #expect(throws: StateSurfaceError(.full, "")) { try await store.insert(session: record) }
            #expect(try await store.session(id: "ses_a") != nil)
            #expect(try await store.session(id: "ses_b") == nil)
            _ = try await engine.write { try $0.rows("PRAGMA max_page_count = 100000", []) }
            try await store.insert(session: record)
            #expect(try await store.session(id: "ses_b") == record)
            await store.close()
        }
    }

    @Test(
        "No lookup reads a whole table",
        arguments: [
            "SELECT id FROM sessions WHERE secret_hash = '1' OR previous_secret_hash = '1' LIMIT 1",
            "SELECT id FROM sessions WHERE user_id = '1' AND tenant_id = '1' ORDER BY created_at DESC, id",
            "SELECT id FROM sessions WHERE family_id = '1' AND \(StoredSessionState.isLiveSQL)",
            "SELECT id FROM sessions WHERE \(StoredSessionState.isLiveSQL) AND expires_at <= '1'",
            "SELECT id FROM sessions WHERE \(StoredSessionState.isDeadSQL) AND absolute_expires_at <= '1'",
            "SELECT user_id FROM accounts WHERE email_key = '1' AND email_key <> ''",
            "SELECT session_id FROM executions WHERE seq IS NULL ORDER BY node_id",
            "SELECT hash FROM refresh_tokens WHERE family_id = '1'",
        ])
    func plans(_ sql: String) async throws {
        try await withFolder { folder in
            let engine = try SQLiteEngine(url: "sqlite:\(folder)/state.sqlite")
            let plan = try await engine.rows("EXPLAIN QUERY PLAN " + sql, []).map { row in
                var row = row
                _ = (try row.integer(), try row.integer(), try row.integer())
                return try row.text()
            }
            #expect(!plan.isEmpty)
            #expect(plan.allSatisfy { !$0.hasPrefix("SCAN") || $0.contains("executions_open") }, "\(plan)")
            await engine.close()
        }
    }

    @Test("Who slept through too many changes is told to ask everything again")
    func gap() async throws {
        try await withFolder { folder in
            let store = try await open("sqlite:\(folder)/state.sqlite")
            let other = try SQLiteEngine(url: "sqlite:\(folder)/state.sqlite")
            let feed = ChangeRecorder(store)
            try await other.write { transaction in
                _ = try transaction.execute(
                    "INSERT INTO changes (seq, origin, payload) VALUES (500000, 'other', 'a|usr_a')", [])
            }
            #expect(try await feed.hears { $0.count == 2 })
            #expect(feed.changes == [.reset, .account(userID: "usr_a")])
            try await other.write { try $0.record(.account(userID: "usr_b")) }
            #expect(try await feed.hears { $0.count == 3 })
            #expect(feed.changes.last == .account(userID: "usr_b"))
            await store.close()
            await other.close()
        }
    }

    @Test("A file that was taken away is noticed")
    func takenAway() async throws {
        try await withFolder { folder in
            let path = folder + "/state.sqlite"
            let store = try await open("sqlite:" + path)
            try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
            #expect(try await eventually(within: .seconds(20)) { store.sinceLastBeat() > .seconds(1) })
            await store.close()
        }
    }

    @Test("A lookup does not wait for a writer")
    func readBesideWriter() async throws {
        try await withFolder { folder in
            let engine = try SQLiteEngine(url: "sqlite:\(folder)/state.sqlite")
            let store = SQLSurface(engine: engine, clock: { 0 })
            try await store.insert(session: Sample.session())
            let hold = DispatchSemaphore(value: 0)
            async let written = engine.write { transaction in
                _ = try transaction.execute("UPDATE sessions SET epoch = 9", [])
                return hold.wait(timeout: .now() + 10) == .success
            }
            #expect(try await store.session(id: "ses_a")?.epoch == 0)
            hold.signal()
            #expect(try await written)
            #expect(try await store.session(id: "ses_a")?.epoch == 9)
            await store.close()
        }
    }

    @Test("A write that fails takes none of its neighbours with it")
    func neighbours() async throws {
        try await withFolder { folder in
            let store = try await open("sqlite:\(folder)/state.sqlite")
            let failed = await withTaskGroup(of: Bool.self) { group in
                for index in 0..<100 {
                    // Every id comes twice.
                    group.addTask {
                        do {
                            try await store.insert(session: Sample.session("ses_\(index / 2)", secret: index))
                            return false
                        } catch {
                            return error as? StateSurfaceError == StateSurfaceError(.duplicate, "")
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(failed == 50)
            #expect(try await store.sessions(userID: nil, liveAt: nil, limit: 1_000).count == 50)
            await store.close()
        }
    }
}
