import BasicsForTests
import JOSE
import StateSurface
import StateSurfaceTesting
import Testing

@testable import SecurityGuard

@Suite("Tokens of other nodes")
struct FleetReachTests {
    private static let hour: Int64 = 3_600_000

    /// Another node of the fixture's store and keys.
    private func neighbour(
        of fixture: Fixture, clock: TestClock? = nil, lifetime: Int64, skew: Int64 = 30_000
    ) async throws -> SecurityGuard {
        var policy = fixture.policy
        policy.accessTokenLifetime = lifetime
        policy.clockSkew = skew
        let clock = clock ?? fixture.clock
        return try await SecurityGuard(
            policy: policy, keyDirectory: KeyDirectory(path: fixture.folder.path, policy: policy, clock: clock.read),
            state: fixture.state, clock: clock.read)
    }

    @Test(
        "A node of short tokens accepts those of a node of long ones, whichever came first", arguments: [true, false])
    func longer(longFirst: Bool) async throws {
        let fixture = try await Fixture(adjust: { $0.accessTokenLifetime = longFirst ? Self.hour : 1_000 })
        let other = try await neighbour(of: fixture, lifetime: longFirst ? 1_000 : Self.hour)
        let account = try await fixture.account()
        let (long, short) = longFirst ? (fixture.subject, other) : (other, fixture.subject)
        let token = try await long.openFamily(for: account).accessToken
        #expect(short.judge(token: token.utf8).isGood)
        fixture.clock.advance(by: Self.hour - 1_000)
        #expect(short.judge(token: token.utf8).isGood)
    }

    @Test("A token that is longer than any node makes them is refused, also when no node makes such any more")
    func tooLong() async throws {
        let fixture = try await Fixture(adjust: { $0.accessTokenLifetime = 60_000 })
        func token(_ lifetime: Int64) throws -> String {
            let now = fixture.clock.now / 1000
            return try fixture.subject.keyRing.signingKey.sign(
                claims: [
                    "iss": "https://gate.example", "sub": "usr_x", "aud": "gatehouse", "client_id": "gatehouse",
                    "tenant_id": "acme", "jti": "j", "iat": .integer(now), "exp": .integer(now + lifetime),
                ], type: "at+jwt")
        }
        func isGood(_ lifetime: Int64) throws -> Bool { fixture.judge(try token(lifetime)).isGood }
        #expect(try isGood(60))
        #expect(try !isGood(61))
        let long = try await neighbour(of: fixture, lifetime: Self.hour)
        #expect(try isGood(3_600) && !isGood(3_601))
        #expect(long.judge(token: try token(3_600).utf8).isGood)
        // Long after the last token of the other node.
        fixture.clock.advance(by: Self.hour + 30_000 + 60_000 + FleetReach.lease)
        try await fixture.subject.reach.note()
        #expect(try !isGood(3_600) && isGood(60))
    }

    @Test("A retiring key is needed for as long as any node's tokens of it are good")
    func retiringKey() async throws {
        let fixture = try await Fixture(adjust: { $0.accessTokenLifetime = Self.hour })
        let short = try await neighbour(of: fixture, lifetime: 1_000)
        let token = try await fixture.login().accessToken
        _ = try fixture.subject.keyDirectory.rotate(immediately: true)
        fixture.clock.advance(by: 10)
        try await short.reload()
        fixture.clock.advance(by: Self.hour - 10_000)
        try await short.reload()
        #expect(short.judge(token: token.utf8).isGood)
        fixture.clock.advance(by: 200_000)
        try await short.reload()
        #expect(short.keyRing.verificationKeys.count == 1)
    }

    @Test("A revocation at a node of short tokens outlives the long ones of its neighbour, also in memory")
    func revocation() async throws {
        let fixture = try await Fixture(adjust: { $0.accessTokenLifetime = Self.hour })
        let short = try await neighbour(of: fixture, lifetime: 1_000, skew: 0)
        let tokens = try await fixture.login()
        _ = try await short.endFamily(tokens.familyID)
        let kept = try await fixture.state.revocations(now: tokens.principal.expiresAt + 30_000)
        #expect(kept.contains { $0.id == tokens.familyID })
        // A single token: until the node with the largest skew would refuse it.
        let other = try await fixture.subject.openFamily(for: fixture.account("bob@example.com"))
        try await short.revoke(token: other.principal)
        let single = try await fixture.state.revocations(now: other.principal.expiresAt + 30_000)
        #expect(single.contains { $0.id == other.principal.tokenID })
    }

    @Test(
        "Disabling ends tokens of a node whose clock is ahead; enabled again, the account's next token is good at once")
    func clockAhead() async throws {
        let fixture = try await Fixture()
        let ahead = TestClock(fixture.clock.now + 20_000)
        let node = try await neighbour(of: fixture, clock: ahead, lifetime: 900_000)
        let account = try await fixture.account()
        let control = try await node.openFamily(for: fixture.account("bob@example.com")).accessToken
        let token = try await node.openFamily(for: account).accessToken
        #expect(fixture.judge(token).isGood)
        #expect(try await fixture.subject.accounts.disable(userID: account.userID))
        #expect(fixture.judge(token).fault?.reason == "revoked")
        #expect(node.judge(token: token.utf8).fault?.reason == "revoked")
        #expect(try await fixture.subject.accounts.enable(userID: account.userID))
        let enabled = try #require(try await fixture.subject.account(userID: account.userID))
        for maker in [fixture.subject, node] {
            let next = try await maker.openFamily(for: enabled).accessToken
            #expect(fixture.judge(next).isGood && node.judge(token: next.utf8).isGood)
        }
        #expect(fixture.judge(token).fault?.reason == "revoked")
        #expect(fixture.judge(control).isGood)
    }

    @Test("A login that was under way while its account was disabled and enabled makes no good token")
    func underWay() async throws {
        let fixture = try await Fixture()
        let judged = try await fixture.account()
        #expect(try await fixture.subject.accounts.disable(userID: judged.userID))
        #expect(try await fixture.subject.accounts.enable(userID: judged.userID))
        // A store that checks the version opens no such family at all.
        let token = try? await fixture.subject.openFamily(for: judged).accessToken
        #expect(token.map { !fixture.judge($0).isGood } ?? true)
    }

    @Test(
        "The version is read from the end of a family's name, and from nothing else",
        arguments: [
            ("a.0", 0), ("a.12", 12), ("a.b.3", 3), ("a", nil), ("", nil), ("a.", nil), ("a.-1", nil), ("a.1x", nil),
            ("a.99999999999999999999", nil), (".9223372036854775807", .max), ("a.\u{661}", nil),
        ] as [(String, Int64?)])
    func names(name: String, version: Int64?) {
        #expect(FamilyID.accountVersion(of: name) == version)
    }

    @Test("A family's name is new each time and names its account's version")
    func made() {
        let (one, other) = (FamilyID.make(accountVersion: 3), FamilyID.make(accountVersion: 3))
        #expect(one != other && FamilyID.accountVersion(of: one) == 3 && NameRule.isVisible(one))
    }
}
