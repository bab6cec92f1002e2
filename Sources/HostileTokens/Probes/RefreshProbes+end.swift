import Encodings

extension RefreshProbes {
    /// R05 to R08: a lost answer, other credentials, and what still works after the end of what it belongs to.
    static let others: [Probe] = lost + afterEnd + afterPassword

    /// R05, R07: a client that lost the answer may get the same successor again, or be refused. Failed only if two
    /// successors work, or if another kind of credential is taken.
    private static let lost: [Probe] = [
        probe("R05-lost-answer", "a refresh token again, because the answer was lost", "RFC 9700 §4.14.2") { talk in
            let first = try await talk.refreshToken()
            let second = try await talk.successor(of: first)
            let again = try await talk.refresh(first)
            guard again.isSuccess, let other = again.text("refresh_token") else {
                return .passed("refused with \(again.status)")
            }
            if other == second { return .passed("the answer names the same successor again") }
            // One of two may count; both would be two lines of one family.
            let lines = [try await talk.refresh(second), try await talk.refresh(other)]
            return lines.allSatisfy { $0.isSuccess }
                ? .failed("there are two successors, and both work") : .passed("one successor works")
        },
        probe(
            "R07-secret-as-refresh", "a session secret in the place of the refresh token", "CVE-2026-4325", [.sessions]
        ) { talk in
            let member = try await talk.login()
            guard let secret = member.secret else { throw Unfit("the login hands out no secret") }
            return try await talk.refresh(secret).refused("the secret")
        },
        probe("R07-ticket-as-refresh", "a ticket in the place of the refresh token", "CVE-2026-4325", [.sessions]) {
            talk in
            let member = try await talk.login()
            guard let id = member.sessionID else { throw Unfit("the login names no session") }
            let answer = try await talk.api(
                "POST", "/api/session/\(id)/ticket", token: member.accessToken, label: "ticket")
            guard let ticket = answer.text("ticket") else { throw Unfit("there are no tickets") }
            return try await talk.refresh(ticket).refused("the ticket")
        },
    ]

    // MARK: After the end

    /// R06, R08: what the end of a session must end, whichever way it ended (ASVS 7.4.1, RFC 7009 section 2.1).
    private static let afterEnd: [Probe] = [
        probe("R06-refresh-after-end", "a refresh token after the end of its session", "ASVS 7.4.1", [.sessions]) {
            talk in
            let member = try await talk.login()
            guard let token = member.refreshToken else { throw Unfit("the login hands out no refresh token") }
            try await talk.end(member)
            return try await talk.refresh(token).refused("the refresh token after the end")
        },
        probe(
            "R08-access-after-end", "an access token after the end of its session", "ASVS 7.4.1", [.sessions, .revoke]
        ) { talk in
            let member = try await talk.login()
            try talk.require(try await talk.protected(member.accessToken), "the token before the end")
            try await talk.end(member)
            return try await talk.protected(member.accessToken).refused("the token after the end")
        },
        probe(
            "R08-access-after-refresh-logout", "an access token after a logout by the refresh token", "RFC 7009 §2.1",
            [.sessions, .revoke]
        ) { talk in
            let member = try await talk.login()
            guard let token = member.refreshToken else { throw Unfit("the login hands out no refresh token") }
            try talk.require(try await talk.protected(member.accessToken), "the token before the logout")
            let answer = try await talk.api(
                "POST", "/api/auth/logout", body: ["refresh_token": .string(token)], label: "logout")
            try talk.require(answer, "the logout")
            return try await talk.protected(member.accessToken).refused("the token after the logout")
        },
    ]

    // MARK: After a new password

    /// R06, R08: a new password must end the user's other sessions (ASVS 7.4.3).
    private static let afterPassword: [Probe] = [
        password("R06-refresh-after-password", "a refresh token") { talk, member in
            guard let token = member.refreshToken else { throw Unfit("the login hands out no refresh token") }
            return try await talk.refresh(token).refused("the refresh token")
        },
        password("R08-access-after-password", "an access token", [.revoke]) { talk, member in
            try await talk.protected(member.accessToken).refused("the access token")
        },
        password("R08-secret-after-password", "a session secret") { talk, member in
            guard let secret = member.secret else { throw Unfit("the login hands out no secret") }
            return try await talk.current(secret).refused("the secret")
        },
    ]

    /// What another of the second user's logins gave, after that user has changed the password. It is changed back.
    ///
    /// If the change back is refused, the case is inconclusive and the second user keeps the password with `-for-now`
    /// behind it.
    private static func password(
        _ id: String, _ title: String, _ needs: [Need] = [],
        _ judge: @escaping @Sendable (Conversation, Member) async throws -> Judgement
    ) -> Probe {
        probe(id, "\(title) of another session, after a new password", "ASVS 7.4.3", [.sessions, .twoUsers] + needs) {
            talk in
            guard let old = talk.accounts.login(1)?.password else { throw Unfit(Need.twoUsers.absence) }
            let (one, other) = (try await talk.login(1), try await talk.login(1))
            let new = old + "-for-now"
            func change(_ current: String, _ next: String) async throws {
                let answer = try await talk.api(
                    "POST", "/api/auth/password", token: one.accessToken,
                    body: ["current": .string(current), "new": .string(next)], label: "password")
                guard answer.isSuccess else {
                    throw Unjudged("the change of the password got \(answer.status)")
                }
            }
            try await change(old, new)
            // The logins that other cases share are over, too.
            await talk.accounts.forget(1)
            let judgement: Result<Judgement, any Error>
            do { judgement = .success(try await judge(talk, other)) } catch { judgement = .failure(error) }
            try await change(new, old)
            return try judgement.get()
        }
    }
}

extension Conversation {
    /// Ends the session of a login.
    fileprivate func end(_ member: Member) async throws {
        guard let id = member.sessionID else { throw Unfit("the login names no session") }
        try require(
            try await api("DELETE", "/api/session/\(id)", token: member.accessToken, label: "end"), "the end")
    }
}
