import Answers
import EdgeConfiguration
import Logging
import Runtime
import SecurityGuard
import TrafficCop

/// The rooms behind the API, and what the edge around it offers.
package struct APIServices: Sendable {
    package let securityGuard: SecurityGuard
    package let runtime: Runtime
    package let trafficCop: TrafficCop
    package let configuration: GatewayConfiguration
    /// `tokens.issuer`, or the address that was bound where none is configured.
    package let issuer: String
    package let clock: @Sendable () -> Int64
    package let logger: Logger
    /// The id of the session whose current, last or previous secret hashes to this, dead or alive.
    package let sessionIDOfSecret: @Sendable (_ hash: [UInt8]) async throws -> String?
    /// Whether the store's feed is alive: without it nobody logs in, upgrades or refreshes.
    package var storeIsAlive: @Sendable () -> Bool = { true }
    /// Remembers failed logins; where nothing is given, nothing is remembered but in memory.
    package var countFailures: FailureCounter = { _, _ in 0 }
    /// Returns when everything that a change made here has ended is closed: awaited before the answer leaves, so that
    /// nothing from before a login outlives it.
    package var leasesSettled: @Sendable () async -> Void = {}
    /// Closes what hangs on a session here, for somebody who has proved to be entitled to end it: sockets need not wait
    /// for the store to have written that down. Where it then fails, they are closed and the session lives on; whoever
    /// asked is told so and may ask again.
    package var sessionEnding: @Sendable (_ sessionID: String) -> Void = { _ in }
    /// Writes a refusal, with its reason, to the audit log.
    package var refused: @Sendable (_ problem: Problem, _ requestID: String) -> Void = { _, _ in }

    package init(
        securityGuard: SecurityGuard, runtime: Runtime, trafficCop: TrafficCop, configuration: GatewayConfiguration,
        issuer: String, clock: @escaping @Sendable () -> Int64, logger: Logger,
        sessionIDOfSecret: @escaping @Sendable (_ hash: [UInt8]) async throws -> String?
    ) {
        self.securityGuard = securityGuard
        self.runtime = runtime
        self.trafficCop = trafficCop
        self.configuration = configuration
        self.issuer = issuer
        self.clock = clock
        self.logger = logger
        self.sessionIDOfSecret = sessionIDOfSecret
    }

    /// Refuses what must not rest on memory alone while the store is out of reach.
    func requireStore() throws(Problem) {
        guard storeIsAlive() else { throw Problem(.storeUnavailable, reason: "feed_silent") }
    }
}
