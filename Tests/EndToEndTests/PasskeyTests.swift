import Encodings
import Foundation
import PasskeysForTests
import Testing

/// Passkeys through the whole gateway: over HTTP with an authenticator in software, and by the operator's commands.
@Suite(.blocking) struct PasskeyTests {
    @Test("A sign-in by passkey keeps the session, and the operator's removal is obeyed at once")
    func operated() async throws {
        let gateway = try await GatewayInProcess.start("audit: {file: audit.jsonl}\n", users: [.ada])
        defer { gateway.stop() }
        let login = try gateway.login(.ada)
        var authenticator = try authenticator(of: login.userID, gateway)
        let registered = try post(
            gateway, "register/finish",
            try authenticator.registration(
                try begin(gateway, "register", [login.bearer, ("Session-Secret", login.sessionSecret)])),
            [login.bearer, ("Session-Secret", login.sessionSecret)])
        expectStatus(registered, 201)

        let anonymous = try gateway.anonymous()
        authenticator.signCount = 2
        let signedIn = try post(
            gateway, "login/finish", try authenticator.assertion(try begin(gateway, "login", [anonymous.field])),
            [anonymous.field])
        #expect(signedIn.status == 200 && LoggedIn(signedIn.json).outcome == "upgraded")
        #expect(LoggedIn(signedIn.json).sessionID == anonymous.id)
        #expect(try gateway.isHealthy(LoggedIn(signedIn.json).token))
        expectRefused(try gateway.current(anonymous.secret), 403, "session_mismatch")

        let listed = try GatewayProcess.run(
            ["users", "passkeys", "list", TestUser.ada.email, "--json"], in: gateway.directory)
        let id = Base64URL.encode(authenticator.credentialID)
        #expect(listed.status == 0 && listed.output.contains("\"id\":\"\(id)\""), "\(listed)")
        let unknown = try GatewayProcess.run(
            ["users", "passkeys", "remove", TestUser.ada.email, "AAAA"], in: gateway.directory)
        #expect(unknown.status == 1 && unknown.errors.contains("no passkey with this id"), "\(unknown)")
        let removed = try GatewayProcess.run(
            ["users", "passkeys", "remove", TestUser.ada.email, id], in: gateway.directory)
        #expect(removed.status == 0, "\(removed)")

        let other = try gateway.anonymous()
        authenticator.signCount = 3
        let refused = try post(
            gateway, "login/finish", try authenticator.assertion(try begin(gateway, "login", [other.field])),
            [other.field])
        expectRefused(refused, 401, "invalid_credentials")
        // Its lines are written after the answers.
        gateway.stop()
        let audit = try String(contentsOf: gateway.directory.appendingPathComponent("audit.jsonl"), encoding: .utf8)
        #expect(audit.contains("credential_unknown") && audit.contains("passkey.registered"))
        #expect(!audit.contains(anonymous.secret) && !gateway.log.contains(anonymous.secret))
    }

    @Test("Pages of other origins begin nothing")
    func origins() async throws {
        let gateway = try await GatewayInProcess.start(users: [.ada])
        defer { gateway.stop() }
        let anonymous = try gateway.anonymous()
        for step in ["register/begin", "register/finish", "login/begin", "login/finish"] {
            let answer = try gateway.request(
                "POST", "/api/auth/passkey/\(step)", headers: [anonymous.field, ("Origin", "https://evil.example")])
            expectRefused(answer, 403, "origin_refused")
        }
    }

    @Test("An issuer that WebAuthn has no name for has no passkeys")
    func noName() async throws {
        let gateway = try await GatewayInProcess.start("tokens: {issuer: 'http://192.0.2.1'}\n", users: [.ada])
        defer { gateway.stop() }
        let anonymous = try gateway.anonymous()
        for (method, path) in [("POST", "/api/auth/passkey/login/begin"), ("GET", "/api/auth/passkeys")] {
            expectRefused(try gateway.request(method, path, headers: [anonymous.field]), 404, "not_found")
        }
    }

    private func authenticator(of userID: String, _ gateway: GatewayInProcess) throws -> Authenticator {
        var authenticator = try Authenticator()
        authenticator.relyingPartyID = "localhost"
        authenticator.clientData["origin"] = .string("http://localhost:\(gateway.port)")
        authenticator.userHandle = userID
        return authenticator
    }

    private func begin(
        _ gateway: GatewayInProcess, _ kind: String, _ headers: [(String, String)]
    ) throws -> JSONObject {
        let answer = try gateway.request("POST", "/api/auth/passkey/\(kind)/begin", headers: headers)
        expectStatus(answer, 200)
        return try StrictJSON.object(answer.text)
    }

    private func post(
        _ gateway: GatewayInProcess, _ step: String, _ body: JSONObject, _ headers: [(String, String)]
    ) throws -> RawResponse {
        try gateway.request(
            "POST", "/api/auth/passkey/\(step)", headers: headers + [("Content-Type", "application/json")],
            body: body.serialized())
    }
}
