import BasicsForTests
import StateSurface
import StateSurfaceTesting
import Testing

@testable import SecurityGuard

@Suite("Revocations")
struct RevocationsTests {
    func principal(issuedAt: Int64 = 5000) -> Principal {
        Principal(
            tenantID: "t", subject: "usr_u", clientID: "gatehouse", scope: [], tokenID: "j", familyID: "f",
            issuedAt: issuedAt, expiresAt: 100_000, keyThumbprint: "k")
    }

    @Test("Token, family and subject each hit what they name", arguments: ["j", "f", "usr_u", "x"])
    func kinds(id: String) {
        let kinds: [Revocation.Kind] = [.token, .family, .subject]
        let own: [String: Revocation.Kind] = ["j": .token, "f": .family, "usr_u": .subject]
        for kind in kinds {
            let revocations = Revocations()
            revocations.insert(Revocation(kind: kind, id: id, issuedUntil: 5000, expiresAt: 200_000))
            #expect(revocations.contains(principal()) == (own[id] == kind), "\(kind) \(id)")
        }
    }

    @Test("A subject's tokens issued later live on, and an older revocation takes nothing back")
    func subjectTime() {
        let revocations = Revocations()
        revocations.insert(Revocation(kind: .subject, id: "usr_u", issuedUntil: 5000, expiresAt: 200_000))
        revocations.insert(Revocation(kind: .subject, id: "usr_u", issuedUntil: 3000, expiresAt: 200_000))
        #expect(revocations.contains(principal(issuedAt: 5000)))
        #expect(!revocations.contains(principal(issuedAt: 6000)))
    }

    @Test("The generation moves with news and only then")
    func generation() {
        let revocations = Revocations()
        let first = Revocation(kind: .token, id: "j", expiresAt: 10)
        revocations.insert(first)
        let after = revocations.generation
        revocations.insert(first)
        #expect(revocations.generation == after)
        revocations.insert(Revocation(kind: .family, id: "j", expiresAt: 10))
        #expect(revocations.generation == after + 1)
    }

    @Test("What has expired is forgotten, but not so soon that a clock stepping back revives a token")
    func prune() async {
        let revocations = Revocations()
        revocations.insert(Revocation(kind: .token, id: "j", expiresAt: 1000))
        await revocations.prune(now: 1000 + 3_599_999)
        #expect(revocations.count == 1)
        await revocations.prune(now: 1000 + 3_600_000)
        #expect(revocations.count == 0)
    }

    @Test("Many that have expired are removed in portions, and one that was extended or is still needed stays")
    func portions() async {
        let revocations = Revocations()
        let kinds: [Revocation.Kind] = [.token, .family, .subject]
        for kind in kinds {
            for index in 0..<1_000 {
                revocations.insert(Revocation(kind: kind, id: "\(index)", issuedUntil: 1, expiresAt: 1000))
            }
        }
        revocations.insert(Revocation(kind: .family, id: "f", expiresAt: 5000))
        revocations.insert(Revocation(kind: .token, id: "0", expiresAt: 5000))
        let now: Int64 = 1000 + 3_600_000
        #expect(revocations.prune(now: now, from: 0, count: 100) != nil)
        #expect(revocations.count > 2_900)
        await revocations.prune(now: now)
        #expect(revocations.count == 2)
        #expect(revocations.contains(principal()))
        #expect(revocations.contains(tokenID: "0", familyID: nil, subject: nil, issuedAt: 0))
        // What was removed can be revoked again.
        revocations.insert(Revocation(kind: .token, id: "1", expiresAt: 6000))
        #expect(revocations.contains(tokenID: "1", familyID: nil, subject: nil, issuedAt: 0))
        await revocations.prune(now: 6000 + 3_600_000)
        #expect(revocations.count == 0)
    }

    @Test("What the store knew before the start is obeyed, and what another node tells")
    func feed() async throws {
        let fixture = try await Fixture()
        let tokens = try await fixture.login()
        try await fixture.state.revoke(Revocation(kind: .token, id: tokens.principal.tokenID, expiresAt: .max / 2))
        #expect(fixture.judge(tokens.accessToken).fault?.reason == "revoked")
        let again = try await SecurityGuard(
            policy: fixture.policy, keyDirectory: fixture.subject.keyDirectory, state: fixture.state,
            clock: fixture.clock.read)
        #expect(again.judge(token: tokens.accessToken.utf8).fault?.reason == "revoked")
    }

    @Test("A node that starts while its clock is an hour ahead knows what was revoked when the clock is right again")
    func startedAhead() async throws {
        let fixture = try await Fixture()
        let tokens = try await fixture.login()
        _ = try await fixture.subject.endFamily(tokens.familyID)
        let clock = TestClock(fixture.clock.now + 3_600_000)
        let node = try await SecurityGuard(
            policy: fixture.policy, keyDirectory: fixture.subject.keyDirectory, state: fixture.state, clock: clock.read)
        clock.advance(by: -3_600_000)
        #expect(node.judge(token: tokens.accessToken.utf8).fault?.reason == "revoked")
    }

    @Test("After a gap everything is read again, however often the store refuses")
    func reset() async throws {
        let fixture = try await Fixture()
        let tokens = try await fixture.login()
        // Written by another node while this one heard nothing.
        fixture.state.revokeSilently(Revocation(kind: .family, id: tokens.familyID, expiresAt: .max / 2))
        #expect(fixture.judge(tokens.accessToken).isGood)
        fixture.state.set(reachable: false)
        fixture.state.tell(.reset)
        fixture.state.tell(.reset)
        fixture.state.set(reachable: true)
        // The guard has no event for the end of its retries, so that a verdict is asked for until it changes.
        #expect(try await eventually { !fixture.judge(tokens.accessToken).isGood })
    }
}
