import BasicsForTests
import Encodings
import JOSE
import StateSurface
import StateSurfaceTesting
import Testing

@testable import SecurityGuard

/// What access tokens say of the account and of the sign-in.
@Suite struct ProfileClaimsTests {
    private static let clear = TokenPolicy(issuer: "https://gate.example").claims

    private func account(
        _ fixture: Fixture, verified: Bool = true, name: String? = "Ada", groups: [String] = ["admins", "staff"]
    ) async throws -> AccountRecord {
        var account = try await fixture.subject.accounts.add(
            email: "ada@example.com", password: Fixture.password, tenantID: "acme", emailVerified: verified)
        account.name = name
        account.groups = groups
        #expect(try await fixture.state.replace(account: account))
        account.version += 1
        return account
    }

    private func members(_ token: String) throws -> JSONObject { try UnverifiedToken(token).unverifiedClaims().members }

    @Test("E-mail and groups by default; what is listed and nothing else; in refreshed tokens as well")
    func listed() async throws {
        #expect(Self.clear == [.email, .groups])
        for claims in [[.email, .groups], [.name], [], ProfileClaim.allCases] as [[ProfileClaim]] {
            let fixture = try await Fixture(adjust: { $0.claims = claims })
            let opened = try await fixture.subject.openFamily(for: account(fixture))
            let refreshed = try await fixture.refreshed(#require(opened.refreshToken))
            for token in [opened.accessToken, refreshed.accessToken] {
                let found = try members(token)
                #expect(found["email"]?.stringValue == (claims.contains(.email) ? "ada@example.com" : nil))
                #expect(found["name"]?.stringValue == (claims.contains(.name) ? "Ada" : nil))
                let groups = found["groups"]?.arrayValue?.compactMap(\.stringValue)
                #expect(groups == (claims.contains(.groups) ? ["admins", "staff"] : nil))
                #expect(found["groups_omitted"] == nil)
            }
        }
    }

    @Test("An unverified e-mail is not in the token, nor is an empty list of groups")
    func unverified() async throws {
        let fixture = try await Fixture(adjust: { $0.claims = ProfileClaim.allCases })
        let token = try await fixture.subject.openFamily(for: account(fixture, verified: false, name: nil, groups: []))
        let found = try members(token.accessToken)
        #expect(found["email"] == nil && found["name"] == nil && found["groups"] == nil)
    }

    @Test("A token over 4 KiB leaves the groups out and says so, and is still accepted")
    func tooManyGroups() async throws {
        let fixture = try await Fixture()
        let many = (0..<100).map { "group-\($0)-" + String(repeating: "x", count: 100) }
        let opened = try await fixture.subject.openFamily(for: account(fixture, groups: many))
        let found = try members(opened.accessToken)
        #expect(found["groups"] == nil && found["groups_omitted"] == .bool(true))
        #expect(found["email"]?.stringValue == "ada@example.com" && opened.accessToken.utf8.count < 4096)
        #expect(fixture.judge(opened.accessToken).isGood)
    }

    @Test("auth_time and acr are those of the sign-in, also after a refresh much later")
    func signIn() async throws {
        let fixture = try await Fixture()
        let account = try await account(fixture)
        let facts = SignInFacts(authenticatedAt: fixture.clock.now - 60_500, acr: "phr")
        let opening = try fixture.subject.prepareFamily(
            fixture.subject.newFamilyID(for: account), for: account, binding: nil, signIn: facts)
        try await fixture.state.insert(family: opening.record, judged: opening.judged)
        fixture.clock.advance(by: 3_600_000)
        let refreshed = try await fixture.refreshed(#require(opening.tokens.refreshToken))
        let expected = facts.authenticatedAt / 1_000
        for token in [opening.tokens.accessToken, refreshed.accessToken] {
            let found = try members(token)
            #expect(found["auth_time"]?.int64Value == expected && found["acr"]?.stringValue == "phr")
        }
        let principal = try fixture.judge(refreshed.accessToken).get()
        #expect(principal.authenticatedAt == expected * 1_000 && principal.acr == "phr")
        #expect(refreshed.principal == principal)
        // What a ticket keeps of the token says the same.
        let kept = try fixture.subject.principal(fromFacts: fixture.subject.facts(of: principal)).get()
        #expect(kept == principal)
    }

    @Test("An acr that is no plain name is left out, and the token is good", arguments: ["a b", "", "a\n", "\u{e9}"])
    func oddContextClass(acr: String) async throws {
        let fixture = try await Fixture()
        let account = try await account(fixture)
        let opening = try fixture.subject.prepareFamily(
            fixture.subject.newFamilyID(for: account), for: account, binding: nil,
            signIn: SignInFacts(authenticatedAt: fixture.clock.now, acr: acr))
        #expect(opening.tokens.principal.acr == nil && fixture.judge(opening.tokens.accessToken).isGood)
    }
}

extension Fixture {
    /// The tokens of a refresh that must succeed.
    fileprivate func refreshed(_ token: String) async throws -> IssuedTokens {
        let outcome = try await subject.refresh(token)
        guard case .rotated(let tokens) = outcome else { throw AuthError(.conflict, "\(outcome)") }
        return tokens
    }
}
