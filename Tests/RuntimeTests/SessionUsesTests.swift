import BasicsForTests
import StateSurface
import StateSurfaceTesting
import Testing

@testable import Runtime

@Suite("Uses of sessions")
struct SessionUsesTests {
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
}
