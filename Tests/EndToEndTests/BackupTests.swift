import BasicsForTests
import Foundation
import PostgresForTests
import Testing

/// A store that was copied while a gateway used it, and what a second gateway knows that was filled from the copy.
@Suite(.blocking) struct BackupTests {
    private static func copied(_ gateway: GatewayProcess) throws -> URL {
        let file = gateway.directory.appendingPathComponent("copy.jsonl")
        // What is no file must not be gone afterwards.
        let pipe = gateway.directory.appendingPathComponent("pipe\(UInt32.random(in: 0 ... .max))").path
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(try GatewayProcess.run(["state", "backup", pipe], in: gateway.directory).status == 1)
        #expect(try FileManager.default.attributesOfItem(atPath: pipe)[.type] as? FileAttributeType != .typeRegular)
        let made = try GatewayProcess.run(["state", "backup", file.path], in: gateway.directory)
        #expect(made.status == 0, "\(made.errors)")
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        return file
    }

    @Test("Accounts, sessions and refresh families go on in a second gateway")
    func secondGateway() async throws {
        let first = try await GatewayProcess.start()
        defer { first.stop() }
        let ada = try first.login(.ada)
        let file = try Self.copied(first)
        let place = try GatewayProcess.makeDirectory()
        try FileManager.default.copyItem(
            at: first.directory.appendingPathComponent("keys"), to: place.appendingPathComponent("keys"))
        let restored = try GatewayProcess.run(["state", "restore", file.path], in: place)
        #expect(restored.status == 0, "\(restored.errors)")
        let issuer = ["GATEHOUSE_TOKENS_ISSUER": first.origin]
        let second = try await GatewayProcess.start("", users: [], environment: issuer, directory: place)
        defer { second.stop() }
        #expect(try second.isHealthy(ada.token))
        let refreshed = try second.request("POST", "/api/auth/refresh", json: ["refresh_token": ada.refreshToken])
        #expect(refreshed.status == 200)
        #expect(try second.login(.bob).userID.hasPrefix("usr_"))
        // A second copy into the same store would mix two.
        let again = try GatewayProcess.run(["state", "restore", file.path], in: place)
        #expect(again.status == 1 && again.errors.contains("not empty"))
    }

    @Test("A copy of SQLite can be restored into PostgreSQL, and back", .enabled(if: PrivatePostgres.isAvailable))
    func betweenStores() async throws {
        // With an event that waits for its receiver: its number is an identity.
        let first = try await GatewayProcess.start(
            "events: [{url: 'http://127.0.0.1:9/hook-42', events: [session.upgraded], allow_private: true}]")
        _ = try first.login(.ada)
        var file = try Self.copied(first)
        #expect(
            try await eventually {
                file = try Self.copied(first)
                return try String(contentsOf: file, encoding: .utf8).contains("hook-42")
            })
        first.stop()
        let postgres = try PrivatePostgres.shared.get()
        let database = postgres.url(database: try postgres.createDatabase())
        let place = try GatewayProcess.makeDirectory()
        let run = { (arguments: [String], state: String) in
            try GatewayProcess.run(arguments + ["--state", state], in: place, stateful: false)
        }
        let there = try run(["state", "restore", file.path], database)
        #expect(there.status == 0, "\(there.errors)")
        let back = place.appendingPathComponent("back.jsonl").path
        #expect(try run(["state", "backup", back], database).status == 0)
        #expect(try run(["state", "restore", back], "sqlite:\(place.path)/back.sqlite").status == 0)
        let users = { (state: String) in try run(["users", "list", "--json"], state).output }
        #expect(try users("sqlite:\(place.path)/back.sqlite") == users("sqlite:\(first.directory.path)/state.sqlite"))
    }

    @Test(
        "A copy of PostgreSQL is restored into a new PostgreSQL, on which a second gateway goes on",
        .enabled(if: PrivatePostgres.isAvailable))
    func betweenServers() async throws {
        let postgres = try PrivatePostgres.shared.get()
        let (old, new) = (
            postgres.url(database: try postgres.createDatabase()), postgres.url(database: try postgres.createDatabase())
        )
        try await TestAccounts.add(TestUser.standard, url: old)
        let first = try await GatewayProcess.start("", users: [], environment: ["GATEHOUSE_STATE_URL": old])
        defer { first.stop() }
        let ada = try first.login(.ada)
        let place = try GatewayProcess.makeDirectory()
        let run = { (command: String, state: String) in
            try GatewayProcess.run(["state", command, "copy.jsonl", "--state", state], in: place, stateful: false)
        }
        let made = try run("backup", old)
        #expect(made.status == 0, "\(made.errors)")
        // What comes after the copy is not in it.
        let late = try first.login(.bob)
        let restored = try run("restore", new)
        #expect(restored.status == 0, "\(restored.errors)")
        try FileManager.default.copyItem(
            at: first.directory.appendingPathComponent("keys"), to: place.appendingPathComponent("keys"))
        let environment = ["GATEHOUSE_STATE_URL": new, "GATEHOUSE_TOKENS_ISSUER": first.origin]
        let second = try await GatewayProcess.start("", users: [], environment: environment, directory: place)
        defer { second.stop() }
        #expect(try second.isHealthy(ada.token))
        #expect(try second.current(ada.sessionSecret).status == 200)
        #expect(try second.current(late.sessionSecret).status != 200)
        #expect(try second.refresh(ada.refreshToken).status == 200)
        let again = try second.login(.ada)
        #expect(again.userID == ada.userID)
        #expect(try second.current(again.sessionSecret).status == 200)
    }

    @Test("A damaged, cut or foreign file is refused, and makes no store")
    func damaged() async throws {
        let first = try await GatewayProcess.start()
        first.stop()
        let file = try Self.copied(first)
        let text = try String(contentsOf: file, encoding: .utf8)
        let place = try GatewayProcess.makeDirectory()
        let bad = place.appendingPathComponent("bad.jsonl")
        let changes = [
            text.replacing("ada@example.com", with: "eve@example.com"), String(text.dropLast(40)), "",
            text.split(separator: "\n").dropLast().joined(separator: "\n") + "\n", "{}\n", "SQLite format 3\0",
        ]
        for change in changes {
            try change.write(to: bad, atomically: true, encoding: .utf8)
            let result = try GatewayProcess.run(["state", "restore", bad.path], in: place)
            #expect(result.status == 1 && !result.errors.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: place.appendingPathComponent("state.sqlite").path))
        }
    }
}
