import Encodings

extension SessionProbes {
    /// S04 to S15: whose a session is, races for it, and what is left after its end.
    static let owners: [Probe] = foreign + races + afterEnd + otherSites

    // MARK: S04, S05, S07, S10: whose it is

    /// S04, S05, S07, S10: further ways to another's session: the list, another session's secret, and an upgrade.
    private static let foreign: [Probe] = [
        probe("S04-foreign-list", "another user's sessions in one's own list", "OWASP API1", [.twoUsers, .ownership]) {
            talk in
            let (owner, other) = (try await talk.login(0), try await talk.login(1))
            guard let id = owner.sessionID else { throw Unfit("the login names no session") }
            let own = try await talk.api("GET", "/api/session", token: owner.accessToken, label: "control")
            try talk.require(own, "the owner's list")
            guard own.content.firstRange(of: Array(id.utf8)) != nil else { throw Unfit("there is no list of sessions") }
            let list = try await talk.api("GET", "/api/session", token: other.accessToken, label: "attack")
            return list.content.firstRange(of: Array(id.utf8)) == nil
                ? .passed("another's list does not name the session") : .failed("another's list names the session")
        },
        probe("S04-foreign-secret", "a session under the secret of another one", "OWASP API1", [.ownership]) { talk in
            let (one, other) = (try await talk.anonymous(), try await talk.anonymous())
            let path = "/api/session/\(one.id)"
            try talk.require(try await talk.api("GET", path, secret: one.secret, label: "control"), "its own secret")
            return try await talk.api("GET", path, secret: other.secret, label: "attack").refused("another's secret")
        },
        probe(
            "S04-foreign-upgrade", "another user's session, upgraded with one's own token", "OWASP API1",
            [.twoUsers, .ownership]
        ) { talk in
            let (owner, other) = (try await talk.login(0), try await talk.login(1))
            guard let id = owner.sessionID else { throw Unfit("the login names no session") }
            return try await talk.upgrade(id, token: other.accessToken, secret: nil).refused("the upgrade")
        },
        probe(
            "S05-same-answer-secret", "a foreign session and one that does not exist, asked for with a secret",
            "ASVS 7.2.1", [.ownership]
        ) { talk in
            let (one, other) = (try await talk.anonymous(), try await talk.anonymous())
            func answer(_ id: String) async throws -> RawResponse {
                try await talk.api("GET", "/api/session/\(id)", secret: one.secret, label: "attack")
            }
            let foreign = try await answer(other.id)
            let unknown = try await answer("ses_AAAAAAAAAAAAAAAAAAAAAA")
            return foreign.status == unknown.status && foreign.fingerprint == unknown.fingerprint
                ? .passed("both got the same \(foreign.status)")
                : .failed("a foreign one got \(foreign.status), an unknown one \(unknown.status), or other bytes")
        },
        probe("S07-owned-upgrade", "an upgrade of a session that another user owns", "CVE-2024-7341", [.twoUsers]) {
            talk in
            let (owner, other) = (try await talk.login(0), try await talk.login(1))
            guard let id = owner.sessionID else { throw Unfit("the login names no session") }
            let answer = try await talk.upgrade(id, token: other.accessToken, secret: owner.secret)
            let seen = try await talk.session(id, token: owner.accessToken)
            guard seen.isSuccess, seen.text("user_id") == owner.userID else {
                return .failed("the session changed its owner")
            }
            return answer.refused("the upgrade")
        },
        probe("S10-id-alone-upgrade", "a foreign anonymous session, upgraded by its id", "ASVS 7.2.1", [.login]) {
            talk in
            let (other, member) = (try await talk.anonymous(), try await talk.login())
            return try await talk.upgrade(other.id, token: member.accessToken, secret: nil).refused("the upgrade")
        },
    ]

    // MARK: S06, S08: races

    /// S06, S08: requests at the same time, of which at most one may win (CWE-362).
    ///
    /// A race is repeated two to four times, so a pass is no proof. Without a winner it is inconclusive; a refresh that
    /// lost to the logout is neither.
    private static let races: [Probe] = [
        probe("S06-login-race", "two users who log in to one session at once", "CWE-362", [.twoUsers]) { talk in
            for _ in 0..<2 {
                let session = try await talk.anonymous()
                let winners = try await withThrowingTaskGroup(of: String?.self) { group in
                    for index in 0..<4 {
                        group.addTask {
                            let answer = try await talk.loginAnswer(index % 2, secret: session.secret)
                            let isIn = Member(answer)?.sessionID == session.id
                            return isIn ? answer.text("user_id") ?? "user \(index % 2)" : nil
                        }
                    }
                    return try await group.reduce(into: Set<String>()) { if let user = $1 { $0.insert(user) } }
                }
                if winners.count > 1 { return .failed("both users got the session") }
                if winners.isEmpty { return Judgement(.inconclusive, "no request got the session") }
            }
            return .passed("one user got each session")
        },
        probe(
            "S08-refresh-against-logout", "a refresh while the session is being logged out", "CWE-362, CVE-2026-1035",
            [.login, .refresh]
        ) { talk in
            for _ in 0..<4 {
                let member = try await talk.login()
                guard let token = member.refreshToken else { throw Unfit("the login hands out no refresh token") }
                async let refreshed = talk.refresh(token)
                async let ended: Void = talk.logout(member)
                let (answer, _) = (try await refreshed, try await ended)
                guard answer.isSuccess, let next = answer.text("refresh_token") else { continue }
                if try await talk.refresh(next).isSuccess {
                    return .failed("the refresh token of the race works after the logout")
                }
            }
            return .passed("nothing of the race works after the logout")
        },
    ]

    // MARK: S09: after the end

    /// S09, S15: an ended session must give no ticket and no upgrade, and two secrets in one request must open neither
    /// session.
    private static let afterEnd: [Probe] = [
        probe("S09-upgrade-after-logout", "an upgrade of an ended session", "CVE-2025-12390", [.login]) { talk in
            let (old, member) = (try await talk.login(), try await talk.login())
            guard let id = old.sessionID, let secret = old.secret else { throw Unfit("no session and secret") }
            try await talk.logout(old)
            return try await talk.upgrade(id, token: member.accessToken, secret: secret).refused("the upgrade")
        },
        probe("S09-ticket-after-logout", "a ticket for an ended session", "ASVS 7.4.1", [.login]) { talk in
            let (old, member) = (try await talk.login(), try await talk.login())
            guard let id = old.sessionID else { throw Unfit("the login names no session") }
            func ticket() async throws -> RawResponse {
                try await talk.api("POST", "/api/session/\(id)/ticket", token: member.accessToken, label: "ticket")
            }
            try talk.require(try await ticket(), "a ticket before the logout")
            try await talk.logout(old)
            return try await ticket().refused("a ticket after the logout")
        },
        probe("S15-two-cookies", "two different secrets in two cookies of one name", "RFC 6265 §8.6", []) { talk in
            let (one, other) = (try await talk.anonymous(), try await talk.anonymous())
            let names = ["gatehouse", "__Host-gatehouse"]
            let cookies = names.map { "\($0)=\(one.secret); \($0)=\(other.secret)" }.joined(separator: "; ")
            return try await talk.api(
                "GET", "/api/session/current", fields: [("Cookie", cookies)], label: "attack"
            ).refused("two secrets")
        },
    ]

    // MARK: S13: other sites

    /// S13: an upgrade and the end of a session from another site, after the same requests without `Origin` have
    /// worked.
    private static let otherSites: [Probe] = [
        probe("S13-upgrade-foreign-origin", "an upgrade from another site", "CWE-352", [.login]) { talk in
            let member = try await talk.login()
            func send(_ fields: [(String, String)], _ label: String) async throws -> RawResponse {
                let session = try await talk.anonymous()
                return try await talk.api(
                    "PATCH", "/api/session/\(session.id)/upgrade", token: member.accessToken, secret: session.secret,
                    body: [:], fields: fields, label: label)
            }
            try talk.require(try await send([], "control"), "the same without Origin")
            return try await send([("Origin", "https://attacker.invalid")], "attack").refused("a foreign Origin")
        },
        probe("S13-delete-foreign-origin", "the end of a session from another site", "CWE-352", []) { talk in
            func send(_ fields: [(String, String)], _ label: String) async throws -> RawResponse {
                let session = try await talk.anonymous()
                return try await talk.api(
                    "DELETE", "/api/session/\(session.id)", secret: session.secret, fields: fields, label: label)
            }
            try talk.require(try await send([], "control"), "the same without Origin")
            return try await send([("Origin", "https://attacker.invalid")], "attack").refused("a foreign Origin")
        },
    ]
}
