import Runtime
import SecurityGuard
import SignIn
import StateSurface
import Synchronization
import Testing

@Suite("What happens is told in the transaction in which it happens")
struct EventTransactionTests {
    let fixture: Fixture
    init() async throws {
        fixture = try await Fixture()
        fixture.store.setEventWriter(
            EventWriter(limit: 100) {
                { event in
                    let id = "\(event.kind) \(event.sessionID ?? "") \(event.reason ?? "")"
                    return [
                        DeliveryRecord(
                            id: id, receiver: "r", lane: id, eventID: id, payload: id, createdAt: 0, dueAt: 0)
                    ]
                }
            })
    }

    private func told() async throws -> [String] {
        try await fixture.store.deliveries(receiver: "r", limit: 100).map(\.payload)
    }

    @Test("A sign-in that is cut off before its commit is not told, and one that is not has been told when it is done")
    func signIn() async throws {
        let account = try await fixture.account()
        let anonymous = try await fixture.anonymous()
        fixture.engine.killsNext.store(true, ordering: .relaxed)
        let target = try await fixture.target(anonymous)
        await #expect(throws: InterruptibleEngine.Killed.self) { try await fixture.signIn(account, to: target) }
        #expect(try await told().isEmpty)
        let signedIn = try await fixture.signIn(account, to: target)
        #expect(try await told() == ["sessionUpgraded \(signedIn.sessionID) "])
        // A resumed session has had its owner.
        _ = try await fixture.signIn(account, to: fixture.target(signedIn.session))
        #expect(try await told().count == 1)
    }

    @Test("A logout that is cut off is not told, and one that is not is told of each session once")
    func logOut() async throws {
        let signedIn = try await fixture.signIn(fixture.account())
        let guest = try await fixture.guest(of: signedIn)
        let proofs = LogoutProofs(refreshToken: signedIn.tokens.refreshToken)
        fixture.engine.killsNext.store(true, ordering: .relaxed)
        await #expect(throws: InterruptibleEngine.Killed.self) { try await fixture.signIn.logOut(proofs) }
        #expect(try await told().filter { $0.hasPrefix("sessionEnded") }.isEmpty)
        for _ in 1...2 { _ = try await fixture.signIn.logOut(proofs) }
        #expect(
            Set(try await told().filter { $0.hasPrefix("sessionEnded") }) == [
                "sessionEnded \(signedIn.sessionID) family_ended", "sessionEnded \(guest.session.id) family_ended",
            ])
    }

    @Test("A sign-in over the user's limit tells why the surplus session ended")
    func surplus() async throws {
        let fixture = try await Fixture(perUser: 2)
        let account = try await fixture.account()
        let first = try await fixture.signIn(account)
        let guest = try await fixture.guest(of: first)
        fixture.store.setEventWriter(
            EventWriter(limit: 100) {
                { event in
                    let id = "\(event.kind) \(event.sessionID ?? "") \(event.reason ?? "")"
                    return [
                        DeliveryRecord(
                            id: id, receiver: "r", lane: id, eventID: id, payload: id, createdAt: 0, dueAt: 0)
                    ]
                }
            })
        let next = try await fixture.signIn(account)
        #expect(
            try await fixture.store.deliveries(receiver: "r", limit: 100).map(\.payload) == [
                "sessionUpgraded \(next.sessionID) ", "sessionEnded \(guest.session.id) too_many_sessions",
            ])
    }
}
