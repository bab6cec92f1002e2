import Foundation
import Testing

/// Refresh tokens: single use, one successor, and the end of the family when one is used twice.
@Suite(.blocking) struct RefreshTests {
    private static let unlimited = "limits:\n  enabled: false\n"

    @Test("However many use one refresh token at once, there is exactly one successor")
    func race() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada])
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let jobs = (0..<60).map { _ -> @Sendable () throws -> RawResponse in { try gateway.refresh(ada.refreshToken) } }
        let answers = try await together(jobs)
        #expect(answers.allSatisfy { $0.status == 200 })
        let successors = Set(answers.compactMap { $0.json["refresh_token"] as? String })
        #expect(successors.count == 1 && !successors.contains(ada.refreshToken))
        expectStatus(try gateway.refresh(try #require(successors.first)), 200)
    }

    @Test("A lost answer is repeated: the predecessor gets the same successor, until that one is used")
    func grace() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada])
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let (first, again) = (try gateway.refresh(ada.refreshToken), try gateway.refresh(ada.refreshToken))
        let next = try #require(first.json["refresh_token"] as? String)
        #expect(again.json["refresh_token"] as? String == next)
        #expect(first.json["access_token"] as? String != again.json["access_token"] as? String)
        #expect(first.json["session_secret"] == nil, "a refresh leaves the session's secret alone")

        let last = try gateway.refresh(next)
        expectStatus(last, 200)
        let token = last.json["access_token"] as? String ?? ""
        #expect(try gateway.isHealthy(token))
        expectRefused(try gateway.refresh(ada.refreshToken), 401, "invalid_grant", "two steps back is reuse")
        for dead in [next, last.json["refresh_token"] as? String ?? ""] {
            expectRefused(try gateway.refresh(dead), 401, "invalid_grant", "the family is dead")
        }
        expectRefused(try gateway.me(token), 401, "invalid_token")
        expectRefused(try gateway.session(ada.sessionID, HeldSession(ada).field), 410, "session_ended")
        expectStatus(try gateway.attemptLogin(.ada), 200)
    }

    @Test("Reuse is reuse after a restart, too")
    func restart() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada])
        let ada = try gateway.login(.ada)
        let first = try gateway.refresh(ada.refreshToken).json["refresh_token"] as? String ?? ""
        let second = try gateway.refresh(first).json["refresh_token"] as? String ?? ""
        gateway.stop()
        let again = try await GatewayInProcess.start(
            Self.unlimited, users: [], directory: gateway.directory, listen: "127.0.0.1:\(gateway.port)")
        defer { again.stop() }
        expectRefused(try again.refresh(ada.refreshToken), 401, "invalid_grant")
        expectRefused(try again.refresh(second), 401, "invalid_grant")
        expectStatus(try again.attemptLogin(.ada), 200)
    }

    @Test("A browser keeps its refresh token in a cookie that no script sees, and refreshes without a body")
    func cookie() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada])
        defer { gateway.stop() }
        let browser = ("Sec-Fetch-Site", "same-origin")
        let login = try gateway.attemptLogin(.ada, headers: [browser])
        #expect(login.json["refresh_token"] == nil && login.json["session_secret"] == nil)
        let attributes = login.cookies["gatehouse-refresh"] ?? ""
        #expect(attributes.contains("HttpOnly") && attributes.contains("SameSite=Strict"))
        let token = try #require(login.cookieValue("gatehouse-refresh"))
        func refresh(_ token: String, _ body: [String: Any]? = nil) throws -> RawResponse {
            let headers = [browser, ("Cookie", "gatehouse-refresh=\(token)")]
            return try gateway.request("POST", "/api/auth/refresh", headers: headers, json: body)
        }
        let refreshed = try refresh(token)
        #expect(refreshed.status == 200 && refreshed.json["refresh_token"] == nil)
        #expect(refreshed.json["session_id"] as? String == login.json["session_id"] as? String)
        let next = try #require(refreshed.cookieValue("gatehouse-refresh"))

        let inBody = try refresh(next, ["deliver": "body"])
        let taken = try #require(inBody.json["refresh_token"] as? String)
        #expect(inBody.cookieValue("gatehouse-refresh") == "", "the cookie would count as reuse")
        let dead = try refresh(token)
        expectRefused(dead, 401, "invalid_grant")
        #expect(dead.cookieValue("gatehouse-refresh") == "", "a dead cookie is cleared")
        expectRefused(try gateway.refresh(taken), 401, "invalid_grant", "two steps back was reuse")
    }

    @Test("What is no refresh token is refused and harms nothing")
    func malformed() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada])
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        for text in ["", "x", "ref_", "ref_x", "ref_\(String(repeating: "A", count: 43))", ada.refreshToken + "A"] {
            expectRefused(try gateway.refresh(text), 401, "invalid_grant", text)
        }
        expectRefused(try gateway.request("POST", "/api/auth/refresh"), 401, "credentials_missing")
        expectRefused(
            try gateway.request("POST", "/api/auth/refresh", json: ["refresh_token": [ada.refreshToken]]), 400,
            "invalid_request")
        expectStatus(try gateway.refresh(ada.refreshToken), 200)
    }
}
