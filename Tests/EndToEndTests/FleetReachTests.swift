import BasicsForTests
import Foundation
import PostgresForTests
import Testing

/// Nodes and commands with different settings: what another's tokens are good for comes from the store.
@Suite(.blocking) struct FleetReachTests {
    private static let other = ["GATEHOUSE_TOKENS_ACCESS_TOKEN_LIFETIME": "1s", "GATEHOUSE_TOKENS_CLOCK_SKEW": "0s"]

    /// When a token ends, in ms.
    private static func end(of token: String) throws -> Int64 {
        let seconds = try #require(claims(of: token)["exp"] as? Int)
        return Int64(seconds) * 1_000
    }

    /// When the store forgets the earliest revocation of this id; nil without one.
    private static func revokedUntil(_ id: String, _ nodes: TwoNodes<GatewayProcess>) throws -> Int64? {
        let sql = "SELECT COALESCE(MIN(expires_at), 0) FROM gatehouse.revocations WHERE id = '\(id)'"
        let text = try nodes.postgres.query(sql, database: nodes.database)
        let number = Int64(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
        return number == 0 ? nil : number
    }

    @Test(
        "A node of shorter tokens accepts those of its neighbour, and a logout there lasts as long as they do",
        .enabled(if: PrivatePostgres.isAvailable))
    func shorterNode() async throws {
        let nodes = try await TwoNodes<GatewayProcess>(
            tokens: "  access_token_lifetime: 2h", tokensOfB: "  access_token_lifetime: 1m\n  clock_skew: 0s")
        defer { nodes.stop() }
        let ada = try nodes.a.login(.ada)
        let bob = try nodes.a.login(.bob)
        #expect(try nodes.b.isHealthy(ada.token), "the longer token is good at the node of shorter ones")
        #expect(try AgentProbe.status(nodes.b, bob)?.status ?? 101 == 101)
        #expect(try nodes.b.request("POST", "/api/auth/logout", headers: [ada.bearer]).status == 204)
        let family = try #require(claims(of: ada.token)["fid"] as? String)
        let until = try #require(try Self.revokedUntil(family, nodes))
        let adaEnds = try Self.end(of: ada.token)
        #expect(until >= adaEnds)
        #expect(try await eventually { try !nodes.a.isHealthy(ada.token) })
        #expect(try nodes.a.isHealthy(bob.token))
    }

    @Test(
        "Commands that are run with other settings revoke for as long as the gateway's tokens last",
        .enabled(if: PrivatePostgres.isAvailable),
        arguments: ["clients disable", "users disable", "users password", "sessions end"])
    func commands(_ command: String) async throws {
        let nodes = try await TwoNodes<GatewayProcess>(tokens: "  access_token_lifetime: 2h")
        defer { nodes.stop() }
        let added = try nodes.command(["clients", "add", "ci", "--tenant", TestUser.ada.tenant, "--json"])
        let members = try JSONSerialization.jsonObject(with: Data(added.output.utf8)) as? [String: String]
        let client = try #require(members)
        let form = try nodes.a.form(
            "/oauth2/token",
            [
                ("grant_type", "client_credentials"), ("client_id", client["client_id"] ?? ""),
                ("client_secret", client["client_secret"] ?? ""),
            ])
        let own = try #require(form.json["access_token"] as? String)
        let ada = try nodes.a.login(.ada)
        let bob = try nodes.a.login(.bob)
        let family = try #require(claims(of: ada.token)["fid"] as? String)
        let (arguments, revoked, token): ([String], String, String) =
            switch command {
            case "clients disable": ([client["client_id"] ?? ""], client["client_id"] ?? "", own)
            case "users disable": ([TestUser.ada.email], ada.userID, ada.token)
            case "users password": ([TestUser.ada.email, "--password-stdin"], family, ada.token)
            default: ([ada.sessionID], family, ada.token)
            }
        let words = command.split(separator: " ").map(String.init)
        let result = try nodes.command(words + arguments, input: "another password", environment: Self.other)
        #expect(result.status == 0, "\(result.errors)")
        let until = try #require(try Self.revokedUntil(revoked, nodes))
        let ends = try Self.end(of: token)
        #expect(until >= ends)
        #expect(try nodes.a.isHealthy(bob.token))
    }

    @Test("A gateway that is started again with shorter tokens accepts those it made before")
    func loweredLifetime() async throws {
        let first = try await GatewayProcess.start(
            "tokens: {issuer: 'http://gatehouse.test', access_token_lifetime: 2h}", users: [.ada])
        let ada = try first.login(.ada)
        first.stop()
        let second = try await GatewayProcess.start(
            "tokens: {issuer: 'http://gatehouse.test', access_token_lifetime: 1m}", users: [],
            directory: first.directory)
        defer { second.stop() }
        #expect(try second.isHealthy(ada.token))
        let later = try second.login(.ada)
        let lifetime = try Self.end(of: later.token) - Self.end(of: ada.token)
        #expect(lifetime < 0, "new ones are shorter")
    }

    @Test("An account that was disabled and enabled again logs in at once; its tokens from before stay dead")
    func enabledAgain() async throws {
        let gateway = try await GatewayInProcess.start("", users: [.ada, .bob])
        defer { gateway.stop() }
        let before = try gateway.login(.ada)
        for command in ["disable", "enable"] {
            let result = try GatewayProcess.run(["users", command, TestUser.ada.email], in: gateway.directory)
            #expect(result.status == 0, "\(result.errors)")
        }
        let after = try gateway.login(.ada)
        #expect(try gateway.isHealthy(after.token))
        #expect(try await eventually { try !gateway.isHealthy(before.token) })
        #expect(try gateway.isHealthy(after.token))
        let fid = try #require(claims(of: after.token)["fid"] as? String)
        #expect(!fid.contains(after.sessionID.dropFirst(4)))
    }

    @Test("An assertion that was signed with a retired key is not sent again")
    func assertions() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            "routes:\n  - {path: /orders, upstream: '\(upstream.url)', require: token}", users: [.ada, .bob])
        defer { gateway.stop() }
        func keys(_ arguments: [String]) throws {
            let result = try GatewayProcess.run(["keys"] + arguments, in: gateway.directory)
            #expect(result.status == 0, "\(result.errors)")
        }
        func assertionKey(_ user: LoggedIn) throws -> String? {
            #expect(try gateway.request("GET", "/orders", headers: [user.bearer]).status == 200)
            return upstream.requests.last?["x-gatehouse-assertion"].flatMap { header(of: $0)["kid"] as? String }
        }
        let bob = try gateway.login(.bob)
        let old = try #require(header(of: bob.token)["kid"] as? String)
        try keys(["rotate", "--now"])
        var current: LoggedIn?
        let isRotated = try await eventually {
            let user = try gateway.login(.ada)
            current = user
            return header(of: user.token)["kid"] as? String != old
        }
        #expect(isRotated)
        let ada = try #require(current)
        let second = try #require(header(of: ada.token)["kid"] as? String)
        // Twice, so that both memories hold it; its token's key stays good.
        #expect(try assertionKey(bob) == second && assertionKey(bob) == second)
        try keys(["rotate", "--now"])
        try keys(["retire", second])
        #expect(try await eventually { try !gateway.isHealthy(ada.token) })
        let third = try assertionKey(bob)
        #expect(third != nil && third != second)
    }

    @Test("A key file that can't be read keeps no other key in service")
    func strayFile() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false", users: [.ada])
        defer { gateway.stop() }
        let before = try gateway.login(.ada)
        let old = try #require(header(of: before.token)["kid"] as? String)
        let stray = gateway.directory.appendingPathComponent("keys/stray.pem")
        try Data("no key".utf8).write(to: stray)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: stray.path)
        for command in [["rotate", "--now"], ["retire", old], ["list"]] {
            let result = try GatewayProcess.run(["keys"] + command, in: gateway.directory)
            #expect(result.status == 0 && result.errors.contains("stray.pem"), "\(command): \(result.errors)")
        }
        #expect(try await eventually { try !gateway.isHealthy(before.token) })
        #expect(try gateway.isHealthy(gateway.login(.ada).token))
    }
}
