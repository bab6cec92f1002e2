import StateSurfaceTesting
import Synchronization
import Testing
import TrafficCop

@testable import Runtime
@testable import StateSurface

@Suite("Sessions on a clock that is set forward and back, on both databases")
struct SessionClockTests {
    private static let hour: Milliseconds = 3_600_000

    /// Who finds out that a session's time is over.
    enum Finder: String, Sendable, CaseIterable {
        case reaper, secret, owner, claim
    }

    /// A Runtime on a store of its own, with its clock in the test's hand.
    private final class Node: Sendable {
        let runtime: Runtime
        let trafficCop: TrafficCop
        let audits: Audits

        init(_ store: any StateSurface, _ clock: SteppedClock) {
            let trafficCop = TrafficCop(limits: RateLimits(enabled: false), clock: { clock.now })
            let audits = Audits()
            self.trafficCop = trafficCop
            self.audits = audits
            self.runtime = Runtime(
                state: store, trafficCop: trafficCop, policy: SessionPolicy(idle: 30 * 60_000), clock: { clock.now },
                audit: { audits.append($0) })
        }

        func anonymous() async throws -> IssuedSession {
            let intent = SessionIntent(kind: .anonymous, clientAddress: "a")
            return try await open(intent)
        }

        func authenticated() async throws -> IssuedSession {
            let intent = SessionIntent(kind: .authenticated, clientAddress: "a", tenantID: "t", userID: "usr_a")
            return try await open(intent)
        }

        func upgrade(_ issued: IssuedSession) async throws -> IssuedSession {
            let intent = SessionIntent(
                kind: .upgrade, clientAddress: "a", sessionID: issued.session.id, tenantID: "t", userID: "usr_a")
            return try await open(intent, secret: issued.secret.hash)
        }

        private func open(_ intent: SessionIntent, secret: [UInt8] = []) async throws -> IssuedSession {
            try await runtime.open(
                runtime.prepare(trafficCop.prepare(intent).get(), for: intent, secretHash: secret))
        }

        /// Lets one of the finders find out.
        func find(_ issued: IssuedSession, by finder: Finder) async throws {
            switch finder {
            case .reaper: try await runtime.expireSessions()
            case .secret: _ = try await runtime.current(secretHash: issued.secret.hash)
            case .owner: _ = try await runtime.admit(sessionID: issued.session.id, tenantID: "t", userID: "usr_a")
            case .claim: _ = try? await upgrade(issued)
            }
        }

        /// Everything by which a session could be used.
        func expectDead(_ issued: IssuedSession) async throws {
            let id = issued.session.id
            let hash = issued.secret.hash
            await #expect(throws: SessionFault.expired) {
                _ = try await self.runtime.find(id: id, proof: .secret(hash: hash))
            }
            #expect(try await runtime.current(secretHash: hash) == nil)
            #expect(try await runtime.loginTarget(secretHash: hash) == nil)
            await #expect(throws: SessionFault.mismatch) { _ = try await self.upgrade(issued) }
            await #expect(throws: SessionFault.mismatch) {
                _ = try await self.runtime.admit(secretHash: hash).get()
            }
            await #expect(throws: SessionFault.mismatch) {
                _ = try await self.runtime.admit(sessionID: id, tenantID: "t", userID: "usr_a").get()
            }
            #expect(try await runtime.liveEpoch(sessionID: id) == nil)
            #expect(try await runtime.liveSessions(tenantID: "t", userID: "usr_a").allSatisfy { $0.id != id })
            // Nor does a use that comes late.
            runtime.noteUse(id)
            try await runtime.flushUses()
            #expect(try await runtime.liveEpoch(sessionID: id) == nil)
        }
    }

    private final class Audits: Sendable {
        private let events = Mutex<[SessionAudit]>([])

        func append(_ event: SessionAudit) { events.withLock { $0.append(event) } }
        func count(_ name: SessionAudit.Name) -> Int { events.withLock { $0.count(where: { $0.name == name }) } }
    }

    private final class SteppedClock: Sendable {
        private let time = Atomic<Int64>(Sample.now)

        var now: Milliseconds { time.load(ordering: .sequentiallyConsistent) }
        func step(by milliseconds: Milliseconds) { time.add(milliseconds, ordering: .sequentiallyConsistent) }
    }

    @Test(
        "An hour forward and back: no session comes back to life, on this node or another",
        arguments: Backend.available, Finder.allCases)
    func forwardAndBack(_ backend: Backend, _ finder: Finder) async throws {
        try await backend.withPlace { place in
            let clock = SteppedClock()
            let node = Node(try await place.open(), clock)
            let other = Node(try await place.open(), clock)
            let session = try await finder == .owner ? node.authenticated() : node.anonymous()
            clock.step(by: Self.hour)
            try await node.find(session, by: finder)
            #expect(node.audits.count(.expired) == 1)
            clock.step(by: -Self.hour)
            try await node.expectDead(session)
            try await other.expectDead(session)
            clock.step(by: Self.hour)
            try await other.expectDead(session)
            // Written down once, told once, by the one that did it.
            try await other.runtime.expireSessions()
            #expect(node.audits.count(.expired) == 1 && other.audits.count(.expired) == 0)
            let control = try await other.anonymous()
            #expect(try await node.runtime.current(secretHash: control.secret.hash) != nil)
        }
    }

    @Test("An hour back and forward: what lived goes on living, and dies in its time", arguments: Backend.available)
    func backAndForward(_ backend: Backend) async throws {
        try await backend.withPlace { place in
            let clock = SteppedClock()
            let node = Node(try await place.open(), clock)
            let session = try await node.authenticated()
            clock.step(by: -Self.hour)
            try await node.runtime.expireSessions()
            #expect(try await node.runtime.current(secretHash: session.secret.hash)?.id == session.session.id)
            clock.step(by: Self.hour)
            try await node.runtime.expireSessions()
            #expect(try await node.runtime.current(secretHash: session.secret.hash)?.id == session.session.id)
            #expect(node.audits.count(.expired) == 0)
            clock.step(by: Self.hour)
            try await node.runtime.expireSessions()
            #expect(node.audits.count(.expired) == 1)
            clock.step(by: -2 * Self.hour)
            try await node.expectDead(session)
        }
    }
}
