import BasicsForTests
import Encodings
import StateSurface
import StateSurfaceTesting
import Synchronization
import TrafficCop

@testable import Runtime

/// A Runtime with everything around it, on a clock that stands still.
final class RuntimeFixture: Sendable {
    let clock: TestClock
    let store: MemoryStore
    let trafficCop: TrafficCop
    let runtime: Runtime

    /// - Parameter store: another fixture's, to be a second node.
    init(
        store: MemoryStore = MemoryStore(), clock: TestClock = TestClock(),
        policy: SessionPolicy = SessionPolicy(), realms: [any Realm] = [], limits: AgentLimits = AgentLimits(),
        nodeID: String = Runtime.makeNodeID(), pendingUses: Int = 200_000
    ) {
        self.clock = clock
        self.store = store
        self.trafficCop = TrafficCop(limits: RateLimits(enabled: false), clock: { clock.now })
        self.runtime = Runtime(
            state: store, trafficCop: self.trafficCop, policy: policy, realms: realms, clock: { clock.now },
            nodeID: nodeID,
            agentLimits: limits, pendingUses: pendingUses)
    }

    func anonymous(metadata: String = "{}") async throws -> IssuedSession {
        let intent = SessionIntent(kind: .anonymous, clientAddress: "a", metadata: metadata)
        return try await open(intent)
    }

    func authenticated(
        _ user: String = "usr_a", tenant: String = "t", family: String? = nil
    ) async throws -> IssuedSession {
        let intent = SessionIntent(kind: .authenticated, clientAddress: "a", tenantID: tenant, userID: user)
        return try await open(intent, family: family)
    }

    func upgrade(
        _ id: String, secret: [UInt8], user: String = "usr_a", tenant: String = "t", family: String? = nil,
        metadata: String = "{}", expectedEpoch: Int64? = nil
    ) async throws -> IssuedSession {
        let intent = SessionIntent(
            kind: .upgrade, clientAddress: "a", sessionID: id, tenantID: tenant, userID: user, metadata: metadata)
        return try await open(intent, secret: secret, family: family, expectedEpoch: expectedEpoch)
    }

    func resume(
        _ id: String, secret: [UInt8], user: String = "usr_a", tenant: String = "t", family: String?
    ) async throws -> IssuedSession {
        let intent = SessionIntent(
            kind: .resume, clientAddress: "a", sessionID: id, tenantID: tenant, userID: user)
        return try await open(intent, secret: secret, family: family)
    }

    private func open(
        _ intent: SessionIntent, secret: [UInt8] = [], family: String? = nil, expectedEpoch: Int64? = nil
    ) async throws -> IssuedSession {
        try await runtime.open(
            runtime.prepare(
                trafficCop.prepare(intent).get(), for: intent, secretHash: secret, familyID: family,
                expectedEpoch: expectedEpoch))
    }

    func permit(_ session: SessionSnapshot) async throws -> Permit {
        try await runtime.admit(
            sessionID: session.id, tenantID: session.tenantID ?? "", userID: session.userID ?? ""
        ).get()
    }
}
