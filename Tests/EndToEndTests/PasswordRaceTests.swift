import BasicsForTests
import Foundation
import PostgresForTests
import Synchronization
import Testing

/// A login that is being judged while the password changes is judged of an account that is no more.
@Suite(.alone("races need the passwords' full cost, and cores to run on")) struct PasswordRaceTests {
    private static let configuration = "limits:\n  enabled: false\n"

    /// Logs in again and again on several connections until `change` has been answered.
    /// - Returns: every login that was let in.
    private func logins(
        at gateways: [GatewayProcess], during change: @escaping @Sendable () throws -> Void
    ) async throws -> [(GatewayProcess, LoggedIn)] {
        let isUnderWay = DispatchSemaphore(value: 0)
        let isOver = Flag()
        let attempts = (0..<6).map { index -> @Sendable () throws -> [(GatewayProcess, LoggedIn)] in
            let gateway = gateways[index % gateways.count]
            return {
                var found: [(GatewayProcess, LoggedIn)] = []
                // One more begins before the change is answered, and ends after it.
                while !isOver.isSet {
                    let answer = try gateway.attemptLogin(.ada)
                    guard answer.status == 200 else { continue }
                    found.append((gateway, LoggedIn(answer.json)))
                    isUnderWay.signal()
                }
                return found
            }
        }
        let changing: @Sendable () throws -> [(GatewayProcess, LoggedIn)] = {
            defer { isOver.set() }
            guard isUnderWay.wait(timeout: .now() + 60) == .success else {
                throw GatewayFailure(description: "no login was let in")
            }
            try change()
            return []
        }
        return try await together(attempts + [changing]).flatMap { $0 }
    }

    private func expectDead(_ logins: [(GatewayProcess, LoggedIn)]) async throws {
        #expect(!logins.isEmpty, "the old password was good to begin with")
        for (gateway, login) in logins {
            #expect(try gateway.refresh(login.refreshToken).status == 401)
            // Another node may take a second to hear of it.
            let isDead = try await eventually { try !gateway.isHealthy(login.token) }
            #expect(isDead)
        }
    }

    @Test("No login with the old password outlives the change of it")
    func byTheUser() async throws {
        let gateway = try await GatewayProcess.start(Self.configuration, users: [.ada])
        defer { gateway.stop() }
        let asking = try gateway.login(.ada)
        let found = try await logins(at: [gateway]) {
            let answer = try gateway.request(
                "POST", "/api/auth/password", headers: [asking.bearer],
                json: ["current": TestUser.ada.password, "new": "another one"])
            expectStatus(answer, 204)
        }
        try await expectDead(found)
        #expect(try gateway.isHealthy(asking.token))
        var user = TestUser.ada
        user.password = "another one"
        #expect(try gateway.isHealthy(gateway.login(user).token))
    }

    @Test("Nor that which an operator sets")
    func byTheOperator() async throws {
        let gateway = try await GatewayProcess.start(Self.configuration, users: [.ada])
        defer { gateway.stop() }
        let found = try await logins(at: [gateway]) {
            let result = try GatewayProcess.run(
                ["users", "password", TestUser.ada.email, "--password-stdin"], in: gateway.directory,
                input: "another one")
            #expect(result.status == 0, "\(result.errors)")
        }
        try await expectDead(found)
        var user = TestUser.ada
        user.password = "another one"
        #expect(try gateway.isHealthy(gateway.login(user).token))
    }

    @Test("Nor on another node", .enabled(if: PrivatePostgres.isAvailable))
    func onTwoNodes() async throws {
        let nodes = try await TwoNodes<GatewayProcess>(users: [.ada], more: Self.configuration)
        defer { nodes.stop() }
        let found = try await logins(at: [nodes.a, nodes.b]) {
            let result = try nodes.command(
                ["users", "password", TestUser.ada.email, "--password-stdin"], input: "another one")
            #expect(result.status == 0, "\(result.errors)")
        }
        try await expectDead(found)
    }

    @Test("A disabled client's sessions end with it")
    func disabledClient() async throws {
        let gateway = try await GatewayProcess.start(Self.configuration, users: [.ada])
        defer { gateway.stop() }
        func client() throws -> (id: String, basic: (String, String)) {
            let added = try GatewayProcess.run(
                ["clients", "add", "ci", "--tenant", "acme", "--json"], in: gateway.directory)
            let json = try JSONSerialization.jsonObject(with: Data(added.output.utf8)) as? [String: Any] ?? [:]
            let id = json["client_id"] as? String ?? ""
            let pair = "\(id):\(json["client_secret"] as? String ?? "")"
            return (id, ("Authorization", "Basic " + Data(pair.utf8).base64EncodedString()))
        }
        func session(_ basic: (String, String)) throws -> HeldSession {
            let granted = try gateway.form("/oauth2/token", [("grant_type", "client_credentials")], headers: [basic])
            let token = granted.json["access_token"] as? String ?? ""
            let made = try gateway.request(
                "POST", "/api/session/create", headers: [("Authorization", "Bearer \(token)")], json: [String: String]()
            )
            expectStatus(made, 200)
            return HeldSession(made.json)
        }
        let (ended, kept) = (try client(), try client())
        let (doomed, other) = (try session(ended.basic), try session(kept.basic))
        #expect(try GatewayProcess.run(["clients", "disable", ended.id], in: gateway.directory).status == 0)
        let isDead = try await eventually { try gateway.current(doomed.secret).status == 410 }
        #expect(isDead)
        expectStatus(try gateway.current(other.secret), 200)
    }
}

/// Set once, read by all tasks.
private final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}
