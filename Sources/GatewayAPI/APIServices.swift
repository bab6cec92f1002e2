import Answers
import EdgeConfiguration
import Logging
import Runtime
import SecurityGuard
import SignIn
import TrafficCop

/// The rooms behind the API, and what the edge around it offers.
package struct APIServices: Sendable {
    package let securityGuard: SecurityGuard
    package let runtime: Runtime
    package let trafficCop: TrafficCop
    package let signIn: SignInService
    package let configuration: GatewayConfiguration
    /// `tokens.issuer`, or the address that was bound where none is configured.
    package let issuer: String
    package let clock: @Sendable () -> Int64
    package let logger: Logger
    /// The id of the session whose current, last or previous secret hashes to this, dead or alive.
    package let sessionIDOfSecret: @Sendable (_ hash: [UInt8]) async throws -> String?
    /// Whether the store's feed is alive: without it no login, upgrade or refresh is done.
    package let storeIsAlive: @Sendable () -> Bool
    /// Returns when everything that a change made here has ended is closed: awaited before the answer leaves, so that
    /// nothing from before a login outlives it.
    package let leasesSettled: @Sendable () async -> Void
    /// Writes a refusal, with its reason, to the audit log.
    package let refused: @Sendable (_ problem: Problem, _ requestID: String) -> Void

    package init(
        securityGuard: SecurityGuard, runtime: Runtime, trafficCop: TrafficCop, signIn: SignInService,
        configuration: GatewayConfiguration, issuer: String, clock: @escaping @Sendable () -> Int64, logger: Logger,
        sessionIDOfSecret: @escaping @Sendable (_ hash: [UInt8]) async throws -> String?,
        storeIsAlive: @escaping @Sendable () -> Bool, leasesSettled: @escaping @Sendable () async -> Void,
        refused: @escaping @Sendable (_ problem: Problem, _ requestID: String) -> Void
    ) {
        self.securityGuard = securityGuard
        self.runtime = runtime
        self.trafficCop = trafficCop
        self.signIn = signIn
        self.configuration = configuration
        self.issuer = issuer
        self.clock = clock
        self.logger = logger
        self.sessionIDOfSecret = sessionIDOfSecret
        self.storeIsAlive = storeIsAlive
        self.leasesSettled = leasesSettled
        self.refused = refused
    }

    /// Refuses what must not rest on memory alone while the store is out of reach.
    func requireStore() throws(Problem) {
        guard storeIsAlive() else { throw Problem(.storeUnavailable, reason: "feed_silent") }
    }
}
