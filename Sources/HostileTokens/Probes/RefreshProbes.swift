import Encodings

/// R: refresh tokens that work more than once or too long, and access tokens after their session has ended.
enum RefreshProbes {
    /// Each case begins with logins of its own, because a family ends when one of its tokens is used twice.
    static let all: [Probe] = reuse + swapped + ended + others

    private static let rotation = "RFC 9700 §4.14.2"

    /// R01 to R03: rotation. A refresh token that has a successor in use must be refused and end its family, because it
    /// is not known which of two holders is the thief (RFC 9700 section 4.14.2).
    ///
    /// A race is inconclusive if no request gets a successor.
    private static let reuse: [Probe] = [
        probe("R01-reuse", "a refresh token after its successor has been used", rotation) { talk in
            let first = try await talk.refreshToken()
            let second = try await talk.successor(of: first)
            _ = try await talk.successor(of: second)
            return try await talk.refresh(first).refused("the used refresh token")
        },
        probe("R01-family-ends", "the newest refresh token after an old one has come again", rotation) { talk in
            let first = try await talk.refreshToken()
            let second = try await talk.successor(of: first)
            let third = try await talk.successor(of: second)
            _ = try await talk.refresh(first)
            return try await talk.refresh(third).refused("the family's newest token")
        },
        probe("R02-race", "one refresh token sixteen times at once", "CVE-2026-1035, CWE-367") { talk in
            let first = try await talk.refreshToken()
            let successors = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<16 {
                    group.addTask { try await talk.refresh(first).text("refresh_token") }
                }
                return try await group.reduce(into: Set<String>()) { if let token = $1 { $0.insert(token) } }
            }
            switch successors.count {
            case 0: return Judgement(.inconclusive, "no request got a successor")
            case 1: return .passed("there is one successor")
            default: return .failed("there are \(successors.count) successors")
            }
        },
        probe("R03-two-steps-back", "the second refresh token after two more quick rotations", rotation) { talk in
            let first = try await talk.refreshToken()
            let second = try await talk.successor(of: first)
            let third = try await talk.successor(of: second)
            _ = try await talk.successor(of: third)
            return try await talk.refresh(second).refused("a refresh token two steps back")
        },
    ]

    /// R06: other credentials, or a changed one, in place of a refresh token, and the reverse (RFC 8725 section 3.12).
    private static let swapped: [Probe] = [
        probe("R06-refresh-as-access", "a refresh token in the place of the access token", "RFC 8725 §3.12") { talk in
            try await talk.protected(try await talk.refreshToken()).refused("the refresh token")
        },
        probe("R06-access-as-refresh", "an access token in the place of the refresh token", "RFC 8725 §3.12") { talk in
            let member = try await talk.login()
            return try await talk.refresh(member.accessToken).refused("the access token")
        },
        probe("R06-changed", "a refresh token with its last letter changed", "RFC 6749 §10.4") { talk in
            let token = try await talk.refreshToken()
            // The last letter may have unused bits, so the one before it is changed.
            let place = token.index(token.endIndex, offsetBy: -2, limitedBy: token.startIndex) ?? token.startIndex
            let other = token[place] == "A" ? "B" : "A"
            let changed = token[..<place] + other + token[token.index(after: place)...]
            return try await talk.refresh(String(changed)).refused("the changed token")
        },
        probe("R06-empty", "an empty refresh token", "RFC 6749 §5.2") { talk in
            _ = try await talk.refreshToken()
            return try await talk.refresh("").refused("an empty token")
        },
    ]

    /// R06, R08: what a logout or a detected reuse must end. `R08` is for targets that promise revocation before `exp`.
    private static let ended: [Probe] = [
        probe("R06-refresh-after-logout", "a refresh token after the logout", "ASVS 7.4.1", [.sessions]) { talk in
            let member = try await talk.login()
            guard let token = member.refreshToken else { throw Unfit("the login hands out no refresh token") }
            try await talk.logout(member)
            return try await talk.refresh(token).refused("the refresh token after the logout")
        },
        probe("R08-access-after-logout", "an access token after the logout", "ASVS 7.4.1", [.sessions, .revoke]) {
            talk in
            let member = try await talk.login()
            try talk.require(try await talk.protected(member.accessToken), "the token before the logout")
            try await talk.logout(member)
            return try await talk.protected(member.accessToken).refused("the token after the logout")
        },
        probe("R08-access-after-reuse", "an access token after its family's reuse", rotation, [.revoke]) { talk in
            let member = try await talk.login()
            guard let first = member.refreshToken else { throw Unfit("the login hands out no refresh token") }
            try talk.require(try await talk.protected(member.accessToken), "the token before the reuse")
            let second = try await talk.successor(of: first)
            _ = try await talk.successor(of: second)
            _ = try await talk.refresh(first)
            return try await talk.protected(member.accessToken).refused("the token of the ended family")
        },
    ]

    static func probe(
        _ id: String, _ title: String, _ reference: String, _ needs: [Need] = [],
        _ converse: @escaping @Sendable (Conversation) async throws -> Judgement
    ) -> Probe {
        Probe(id, title, reference: reference, expected: "refused", needs: [.refresh, .login] + needs, converse)
    }
}

extension Conversation {
    /// The refresh token of a new login.
    func refreshToken() async throws -> String {
        guard let token = try await login().refreshToken else { throw Unfit("the login hands out no refresh token") }
        return token
    }

    /// The answer to a refresh, whatever it is.
    func refresh(_ token: String) async throws -> RawResponse {
        try await api("POST", "/api/auth/refresh", body: ["refresh_token": .string(token)], label: "refresh")
    }

    /// Refreshes and returns the next refresh token. Throws if there is none.
    func successor(of token: String) async throws -> String {
        let answer = try await refresh(token)
        guard answer.isSuccess, let next = answer.text("refresh_token") else {
            throw Unjudged("a good refresh token got \(answer.status)")
        }
        return next
    }
}
