import Encodings

/// S: what can be done with a session id, or with a session secret from before the login.
enum SessionProbes {
    static let all: [Probe] = fixation + chosen + credentials + ends + crossSite + replays + owners

    static let fixationReference = "ASVS 7.2.4, CVE-2023-29019, CVE-2024-7341"

    // MARK: S01, S02: fixation

    /// S01, S02: a session's id or secret that the attacker knew before the victim logged in must open nothing after
    /// it.
    ///
    /// Passed if the login made a new secret and the old one, or the id, is refused. Inconclusive if the login gives no
    /// secret or its new secret does not work.
    private static let fixation: [Probe] = [
        probe("S01-fixation-secret", "the secret of before the login, after it", fixationReference, [.login]) { talk in
            let old = try await talk.anonymous()
            let member = try await talk.login(secret: old.secret)
            guard let fresh = member.secret else { throw Unjudged("the login handed out no secret") }
            try talk.require(try await talk.current(fresh), "the new secret")
            return try await talk.current(old.secret).refused("the old secret")
        },
        probe("S01-fixation-id", "the id of a session after its login, and nothing else", fixationReference, [.login]) {
            talk in
            let old = try await talk.anonymous()
            let member = try await talk.login(secret: old.secret)
            return try await talk.session(member.sessionID ?? old.id).refused("the id alone")
        },
        probe("S02-chosen-id", "a login that names an id of its own choice", "OWASP Session Management", [.login]) {
            talk in
            let chosen = "ses_AAAAAAAAAAAAAAAAAAAAAA"
            let answer = try await talk.loginAnswer(0, sessionID: chosen)
            return Member(answer)?.sessionID == chosen
                ? .failed("the chosen id was adopted") : .passed("the chosen id was not adopted")
        },
        probe(
            "S02-named-without-secret", "a login that names another's session, without its secret", fixationReference,
            [.login]
        ) {
            talk in
            let other = try await talk.anonymous()
            let answer = try await talk.loginAnswer(0, sessionID: other.id)
            return Member(answer)?.sessionID == other.id
                ? .failed("the session was taken over by its id alone") : .passed("the session was left alone")
        },
    ]

    // MARK: S03: credentials in place of others

    /// S03, S10: a credential of one kind is tried as one of another (RFC 8725 section 3.12), and an id without a
    /// secret.
    ///
    /// A success of any kind fails the case, and so does a session that has ended although the request was refused.
    private static let chosen: [Probe] = [
        probe("S03-token-as-secret", "the access token in the place of the secret", "RFC 8725 §3.12", [.login]) {
            talk in
            let member = try await talk.login()
            return try await talk.current(member.accessToken).refused("the token as secret")
        },
        probe("S03-id-as-secret", "the session id in the place of the secret", "RFC 8725 §3.12", [.login]) { talk in
            let member = try await talk.login()
            guard let id = member.sessionID else { throw Unfit("the login names no session") }
            return try await talk.current(id).refused("the id as secret")
        },
        probe("S03-secret-as-token", "the secret in the place of the access token", "RFC 8725 §3.12", [.login]) {
            talk in
            let member = try await talk.login()
            guard let secret = member.secret else { throw Unfit("the login hands out no secret") }
            return try await talk.protected(secret).refused("the secret as token")
        },
        probe("S10-id-alone-read", "a foreign anonymous session, by its id alone", "ASVS 7.2.1", []) { talk in
            let other = try await talk.anonymous()
            return try await talk.session(other.id).refused("the id alone")
        },
        probe("S10-id-alone-delete", "the end of a session, by its id alone", "ASVS 7.2.1", []) { talk in
            let other = try await talk.anonymous()
            let answer = try await talk.api("DELETE", "/api/session/\(other.id)", label: "attack")
            let still = try await talk.current(other.secret)
            if !still.isSuccess { return .failed("the session ended by its id alone") }
            return answer.refused("the id alone")
        },
    ]

    // MARK: S04 to S07: sessions of other users

    /// S04 to S07, S15: the second user tries to read, end or take over the first user's session (OWASP API1:2023).
    ///
    /// The owner reads the session and gets a ticket first, so that the refusals are due to the other user. S05
    /// compares the answers for a foreign and an unknown session: a difference tells which ids exist.
    private static let credentials: [Probe] = [
        probe(
            "S04-foreign-read", "another user's session, with one's own token", "OWASP API1", [.twoUsers, .ownership]
        ) {
            talk in
            let (owner, other) = (try await talk.login(0), try await talk.login(1))
            guard let id = owner.sessionID else { throw Unfit("the login names no session") }
            try talk.require(try await talk.session(id, token: owner.accessToken), "the owner's token")
            return try await talk.session(id, token: other.accessToken).refused("another's token")
        },
        probe("S04-foreign-delete", "the end of another user's session", "OWASP API1", [.twoUsers, .ownership]) {
            talk in
            let (owner, other) = (try await talk.login(0), try await talk.login(1))
            guard let id = owner.sessionID else { throw Unfit("the login names no session") }
            let answer = try await talk.api("DELETE", "/api/session/\(id)", token: other.accessToken, label: "attack")
            guard try await talk.session(id, token: owner.accessToken).isSuccess else {
                return .failed("another's token ended the session")
            }
            return answer.refused("another's token")
        },
        probe("S04-foreign-ticket", "a ticket for another user's session", "OWASP API1", [.twoUsers, .ownership]) {
            talk in
            let (owner, other) = (try await talk.login(0), try await talk.login(1))
            guard let id = owner.sessionID else { throw Unfit("the login names no session") }
            let path = "/api/session/\(id)/ticket"
            try talk.require(
                try await talk.api("POST", path, token: owner.accessToken, label: "control"), "the owner's token")
            return try await talk.api("POST", path, token: other.accessToken, label: "attack").refused(
                "another's token")
        },
        probe(
            "S05-same-answer", "a foreign session and one that does not exist", "ASVS 7.2.1", [.twoUsers, .ownership]
        ) {
            talk in
            let (owner, other) = (try await talk.login(0), try await talk.login(1))
            guard let id = owner.sessionID else { throw Unfit("the login names no session") }
            let foreign = try await talk.session(id, token: other.accessToken)
            let unknown = try await talk.session("ses_AAAAAAAAAAAAAAAAAAAAAA", token: other.accessToken)
            return foreign.status == unknown.status && foreign.fingerprint == unknown.fingerprint
                ? .passed("both got the same \(foreign.status)")
                : .failed("a foreign one got \(foreign.status), an unknown one \(unknown.status), or other bytes")
        },
        probe("S06-upgrade-race", "two users who upgrade one session at once", "CWE-362", [.twoUsers]) { talk in
            let users = [try await talk.login(0), try await talk.login(1)]
            for _ in 0..<3 {
                let session = try await talk.anonymous()
                let path = "/api/session/\(session.id)/upgrade"
                let winners = try await withThrowingTaskGroup(of: String?.self) { group in
                    for index in 0..<12 {
                        let user = users[index % 2]
                        group.addTask {
                            let answer = try await talk.api(
                                "PATCH", path, token: user.accessToken, secret: session.secret, body: [:],
                                label: "attack")
                            return answer.isSuccess ? answer.text("user_id") ?? "?" : nil
                        }
                    }
                    return try await group.reduce(into: Set<String>()) { if let user = $1 { $0.insert(user) } }
                }
                if winners.count > 1 { return .failed("both users got the session") }
                if winners.isEmpty { return Judgement(.inconclusive, "no request got the session") }
            }
            return .passed("one user got each session")
        },
        probe("S07-owned-session", "a login into a session that another user owns", "CVE-2024-7341", [.twoUsers]) {
            talk in
            let owner = try await talk.login(0)
            guard let id = owner.sessionID, let secret = owner.secret else { throw Unfit("no session and secret") }
            let answer = try await talk.loginAnswer(1, secret: secret, sessionID: id)
            let owners = try await talk.session(id, token: owner.accessToken)
            guard owners.isSuccess, owners.text("user_id") == owner.userID else {
                return .failed("the session changed its owner")
            }
            return Member(answer)?.sessionID == id
                ? .failed("the other user was let into the session") : .passed("answered \(answer.status)")
        },
        probe("S15-two-secrets", "two different secrets in one request", "RFC 6265 §8.6", []) { talk in
            let (one, other) = (try await talk.anonymous(), try await talk.anonymous())
            let names = ["gatehouse", "__Host-gatehouse"]
            let cookies = names.map { "\($0)=\(other.secret)" }.joined(separator: "; ")
            return try await talk.api(
                "GET", "/api/session/current", secret: one.secret, fields: [("Cookie", cookies)], label: "attack"
            ).refused("two secrets")
        },
    ]

    // MARK: S09: after the end

    /// S09: what belongs to a session after its logout must stay refused, and must not bring it to life again (ASVS
    /// 7.4.1).
    private static let ends: [Probe] = [
        probe("S09-secret-after-logout", "the secret after the logout", "ASVS 7.4.1", [.login]) { talk in
            let member = try await talk.login()
            guard let secret = member.secret else { throw Unfit("the login hands out no secret") }
            try talk.require(try await talk.current(secret), "the secret")
            try await talk.logout(member)
            return try await talk.current(secret).refused("the secret after the logout")
        },
        probe("S09-login-after-logout", "a login with the secret of an ended session", "CVE-2025-12390", [.login]) {
            talk in
            let member = try await talk.login()
            guard let id = member.sessionID else { throw Unfit("the login names no session") }
            try await talk.logout(member)
            let answer = try await talk.loginAnswer(0, secret: member.secret, sessionID: id)
            return Member(answer)?.sessionID == id
                ? .failed("the ended session came to life again") : .passed("the ended session stayed ended")
        },
    ]

    // MARK: S13: other sites

    /// S13: requests as another site could make a browser send them (CWE-352). The same request without `Origin` must
    /// have worked.
    private static let crossSite: [Probe] = [
        foreign("create", "POST", "/api/session/create-anonymous"),
        foreign("logout", "POST", "/api/auth/logout"),
        foreign("refresh", "POST", "/api/auth/refresh"),
        probe("S13-login-foreign-origin", "a login from another site", "RFC 6749 §10.12, CWE-352", [.login]) { talk in
            _ = try await talk.login()
            return try await talk.loginAnswer(0, fields: [("Origin", "https://attacker.invalid")]).refused("the login")
        },
        probe("S13-login-null-origin", "a login from a sandboxed page", "CWE-352", [.login]) { talk in
            _ = try await talk.login()
            return try await talk.loginAnswer(0, fields: [("Origin", "null")]).refused("the login")
        },
        probe("S13-login-cross-site", "a login that the browser calls cross-site", "CWE-352", [.login]) { talk in
            _ = try await talk.login()
            return try await talk.loginAnswer(0, fields: [("Sec-Fetch-Site", "cross-site")]).refused("the login")
        },
        probe("S13-login-text-plain", "a login as text/plain, which forms can send", "CWE-352", [.login]) { talk in
            _ = try await talk.login()
            return try await talk.loginAnswer(0, fields: [("Content-Type", "text/plain")]).refused("the login")
        },
    ]

    /// A request that changes something, with the Origin of another site. Each try has a login of its own, because a
    /// success uses it up.
    private static func foreign(_ name: String, _ method: String, _ path: String) -> Probe {
        probe("S13-\(name)-foreign-origin", "\(method) \(path) from another site", "CWE-352", [.login]) { talk in
            func send(_ fields: [(String, String)], _ label: String) async throws -> RawResponse {
                let member = try await talk.login()
                let body: JSONObject =
                    name == "refresh" ? ["refresh_token": .string(member.refreshToken ?? "")] : [:]
                return try await talk.api(
                    method, path, token: name == "logout" ? member.accessToken : nil, body: body, fields: fields,
                    label: label)
            }
            try talk.require(try await send([], "control"), "the same without Origin")
            let attack = try await send([("Origin", "https://attacker.invalid")], "attack")
            return attack.refused("a foreign Origin")
        }
    }

    /// A probe of the session API, for targets that have one.
    static func probe(
        _ id: String, _ title: String, _ reference: String, _ needs: [Need],
        _ converse: @escaping @Sendable (Conversation) async throws -> Judgement
    ) -> Probe {
        Probe(
            id, title, reference: reference, expected: "refused, and nothing changed", needs: [.sessions] + needs,
            converse)
    }
}
