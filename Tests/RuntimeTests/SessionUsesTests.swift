import BasicsForTests
import StateSurface
import StateSurfaceTesting
import Testing

@testable import Runtime

@Suite("Uses of sessions")
struct SessionUsesTests {
    let fixture = RuntimeFixture()

    @Test("Open sockets keep all their sessions alive, also when there are more than uses may wait")
    func moreSocketsThanRoom() async throws {
        let fixture = RuntimeFixture(pendingUses: 1)
        var sessions: [SessionSnapshot] = []
        var connections: [AgentConnection] = []
        for _ in 0..<3 {
            let session = try await fixture.authenticated().session
            sessions.append(session)
            let permit = try await fixture.permit(session)
            connections.append(try await fixture.runtime.attach(permit: permit, resumeFrom: nil) { _ in })
        }
        fixture.clock.advance(by: 60_000)
        try await fixture.runtime.flushUses()
        for session in sessions {
            #expect(fixture.store.stored(session.id)?.lastSeenAt == fixture.clock.now)
        }
        withExtendedLifetime(connections) {}
    }

    @Test("A session in use does not expire, whether or not the use is written yet; its absolute end stands")
    func useKeepsAlive() async throws {
        let fixture = RuntimeFixture(policy: SessionPolicy(anonymousIdle: 10_000, anonymousLifetime: 60_000))
        let session = try await fixture.anonymous()
        for _ in 0..<10 {
            fixture.clock.advance(by: 5_900)
            #expect(try await fixture.runtime.admit(secretHash: session.secret.hash).failure == nil)
        }
        #expect(fixture.store.touches == 0)
        try await fixture.runtime.expireSessions()
        #expect(fixture.store.touches == 1)
        #expect(fixture.store.stored(session.session.id)?.lastSeenAt == fixture.clock.now)
        fixture.clock.advance(by: 1_000)
        #expect(try await fixture.runtime.admit(secretHash: session.secret.hash).failure == .mismatch)
    }

    @Test("What could not be written leaves no more uses than may wait")
    func keepsItsBound() async {
        let uses = SessionUses(capacity: 2)
        fixture.store.set(reachable: false)
        // While they are written, there is room for as many again.
        fixture.store.pause(at: .beforeTouch) {
            for id in ["ses_c", "ses_d"] { #expect(uses.note(id, at: 2)) }
        }
        for id in ["ses_a", "ses_b"] { #expect(uses.note(id, at: 1)) }
        await #expect(throws: StateSurfaceError.self) { try await uses.flush(to: fixture.store) }
        #expect(uses.note("ses_c", at: 3) && !uses.note("ses_a", at: 3))
    }

    @Test("Uses that can't be written are kept until they can")
    func usesSurviveOutage() async throws {
        let session = try await fixture.authenticated()
        fixture.clock.advance(by: 60_000)
        fixture.runtime.noteUse(session.session.id)
        let noted = fixture.clock.now
        fixture.store.set(reachable: false)
        await #expect(throws: StateSurfaceError.self) { try await fixture.runtime.flushUses() }
        fixture.store.set(reachable: true)
        try await fixture.runtime.flushUses()
        #expect(fixture.store.stored(session.session.id)?.lastSeenAt == noted)
    }
}
