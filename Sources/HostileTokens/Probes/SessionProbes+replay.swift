import Encodings

extension SessionProbes {
    /// S01 to S03, S11: what was handed out before a login, what the client chose, and credentials of another kind.
    static let replays: [Probe] = before + again + chosenHere + ofAnotherKind

    // MARK: S01: before the login

    /// S01: as the other cases of fixation, with the secret as a cookie and with an upgrade in place of a login.
    private static let before: [Probe] = [
        probe("S01-fixation-cookie", "the secret of before the login as a cookie", fixationReference, [.login]) {
            talk in
            let old = try await talk.anonymous()
            let member = try await talk.login(secret: old.secret)
            guard let fresh = member.secret else { throw Unjudged("the login handed out no secret") }
            try talk.require(try await talk.current(cookie: fresh), "the new secret as a cookie")
            return try await talk.current(cookie: old.secret).refused("the old secret")
        },
        probe("S01-fixation-upgrade", "the secret of before an upgrade, after it", fixationReference, [.login]) {
            talk in
            let old = try await talk.anonymous()
            let member = try await talk.login()
            let answer = try await talk.upgrade(old.id, token: member.accessToken, secret: old.secret)
            try talk.require(answer, "the upgrade")
            guard let fresh = answer.text("session_secret") else { throw Unjudged("the upgrade gave no secret") }
            try talk.require(try await talk.current(fresh), "the new secret")
            return try await talk.current(old.secret).refused("the old secret")
        },
    ]

    /// S01: a second login in one session must end the secret and the tokens of the first. Skipped if it makes another
    /// session.
    private static let again: [Probe] = [
        probe("S01-again-secret", "the secret of before a second login", fixationReference, [.login]) { talk in
            let old = try await talk.loginAgain()
            return try await talk.current(old.secret ?? "").refused("the old secret")
        },
        probe("S01-again-refresh", "the refresh token of before a second login", fixationReference, [.login, .refresh])
        { talk in
            let old = try await talk.loginAgain()
            guard let token = old.refreshToken else { throw Unfit("the login hands out no refresh token") }
            return try await talk.refresh(token).refused("the old refresh token")
        },
        probe("S01-again-access", "the access token of before a second login", fixationReference, [.login, .revoke]) {
            talk in
            let old = try await talk.loginAgain()
            return try await talk.protected(old.accessToken).refused("the old access token")
        },
    ]

    // MARK: S02: of the client's own choice

    /// S02: a new session must have the target's id and secret, not those that the request names.
    private static let chosenHere: [Probe] = [
        probe("S02-chosen-id-anonymous", "a new session that names its own id", "OWASP Session Management", []) {
            talk in
            _ = try await talk.anonymous()
            let chosen = "ses_AAAAAAAAAAAAAAAAAAAAAA"
            let answer = try await talk.api(
                "POST", "/api/session/create-anonymous", body: ["session_id": .string(chosen)], label: "attack")
            return answer.text("session_id") == chosen
                ? .failed("the chosen id was adopted") : .passed("the chosen id was not adopted")
        },
        probe("S02-chosen-secret", "a new session under a secret that the client made", "OWASP Session Management", [])
        { talk in
            let chosen = "sec_" + String(repeating: "A", count: 43)
            let answer = try await talk.api(
                "POST", "/api/session/create-anonymous", secret: chosen, body: [:], label: "attack")
            if answer.text("session_secret") == chosen { return .failed("the chosen secret was adopted") }
            return try await talk.current(chosen).refused("the chosen secret")
        },
    ]

    // MARK: S03, S11: of another kind

    /// S03, S11: a refresh token, a ticket or the assertion for the upstream in place of a session secret or an access
    /// token (RFC 8725 sections 3.11 and 3.12).
    private static let ofAnotherKind: [Probe] = [
        probe("S03-refresh-as-secret", "a refresh token in the place of the secret", "RFC 8725 §3.12", [.login]) {
            talk in
            guard let token = try await talk.login().refreshToken else {
                throw Unfit("the login hands out no refresh token")
            }
            return try await talk.current(token).refused("the refresh token as secret")
        },
        probe("S03-ticket-as-token", "a ticket in the place of the access token", "RFC 8725 §3.12", [.login]) { talk in
            let member = try await talk.login()
            guard let id = member.sessionID else { throw Unfit("the login names no session") }
            let answer = try await talk.api(
                "POST", "/api/session/\(id)/ticket", token: member.accessToken, label: "ticket")
            guard let ticket = answer.text("ticket") else { throw Unfit("there are no tickets") }
            return try await talk.protected(ticket).refused("the ticket as token")
        },
        Probe(
            "S11-assertion-as-token", "what the upstream is told of the caller, in the place of the token",
            reference: "RFC 8725 §3.11, §3.12", expected: "refused", needs: [.token, .canary, .assertion]
        ) { talk in
            guard let head = try await talk.arrival(Marker()) else {
                throw Unjudged("nothing arrived at the suite's own upstream")
            }
            let own = talk.token.map { String(decoding: $0, as: UTF8.self) }
            let tokens = head.map(\.value).filter { $0.hasPrefix("eyJ") && $0.split(separator: ".").count == 3 }
            guard let assertion = tokens.first(where: { $0 != own }) else {
                throw Unfit("the upstream is given no token of another kind")
            }
            return try await talk.protected(assertion).refused("the upstream's assertion as token")
        },
    ]
}

extension Conversation {
    /// Asks for the session of a secret that is sent as a cookie.
    fileprivate func current(cookie secret: String) async throws -> RawResponse {
        let cookies = ["gatehouse", "__Host-gatehouse"].map { "\($0)=\(secret)" }.joined(separator: "; ")
        return try await api("GET", "/api/session/current", fields: [("Cookie", cookies)], label: "current")
    }

    /// Makes a session that of a token's user.
    ///
    /// - Parameter secret: the session's secret; nil to try it with the id alone.
    func upgrade(_ id: String, token: String, secret: String?) async throws -> RawResponse {
        try await api(
            "PATCH", "/api/session/\(id)/upgrade", token: token, secret: secret, body: [:], label: "upgrade")
    }

    /// Logs in twice in one session, and returns what the first login gave.
    fileprivate func loginAgain() async throws -> Member {
        let first = try await login()
        guard let secret = first.secret, let id = first.sessionID else { throw Unfit("no session and secret") }
        let second = try await login(secret: secret)
        guard second.sessionID == id else { throw Unfit("a second login makes another session") }
        return first
    }
}
