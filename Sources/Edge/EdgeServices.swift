import Answers
import EdgeConfiguration
import EdgeCore
import Gate
import GatewayAPI
import HTTPWire
import Leases
import Logging
import NIOCore
import Proxy
import Runtime
import SecurityGuard
import Sockets
import Synchronization
import TrafficCop
import Web

/// What every connection shares. Immutable, or safe from any thread.
package final class EdgeServices: Sendable {
    package let configuration: GatewayConfiguration
    package let securityGuard: SecurityGuard
    package let runtime: Runtime
    package let responder: APIResponder
    package let routes: RouteTable
    /// The paths that win over routes.
    let ownPaths = OwnPaths(api: APIResponder.paths)
    package let origins: OriginPolicy
    let census: SocketCensus
    package let metrics: EdgeMetrics
    package let logger: Logger
    let upstreamLog: UpstreamLog
    package let clock: @Sendable () -> Int64
    package let refused: @Sendable (Problem, String) -> Void
    package let trustedProxies: [AddressBlock]
    /// Names the gateway answers to, lower-case; empty for any.
    package let hosts: Set<[UInt8]>
    let wireLimits: WireLimits
    package let headerTimeout: TimeAmount
    package let idleTimeout: TimeAmount
    /// `server.max_body`; nil streams bodies of any length.
    let maxBody: Int64?
    /// What bounds every lease besides its token and session.
    let leaseBounds: LeaseBounds
    /// The page and its files by path; only the client library where a route covers `/`.
    let assets: [[UInt8]: WebAsset]
    private let hasWarnedOfCookies = Atomic<Bool>(false)
    private let hasWarnedOfForwarding = Atomic<Bool>(false)

    package init(
        configuration: GatewayConfiguration, securityGuard: SecurityGuard, runtime: Runtime, responder: APIResponder,
        origins: OriginPolicy, metrics: EdgeMetrics, logger: Logger, clock: @escaping @Sendable () -> Int64,
        refused: @escaping @Sendable (Problem, String) -> Void
    ) {
        self.configuration = configuration
        self.securityGuard = securityGuard
        self.runtime = runtime
        self.responder = responder
        self.routes = RouteTable(configuration.routes)
        self.origins = origins
        self.metrics = metrics
        self.logger = logger
        self.upstreamLog = UpstreamLog(logger: logger, clock: clock)
        self.clock = clock
        self.refused = refused
        let limits = configuration.limits
        self.census = SocketCensus(
            perSession: limits.enabled ? limits.socketsPerSession : .max,
            perUser: limits.enabled ? limits.socketsPerUser : .max)
        self.trustedProxies = configuration.server.trustedProxies.compactMap(AddressBlock.init)
        self.hosts = Set(configuration.server.hosts.map { HostName.withoutPort(Array($0.lowercased().utf8)) })
        self.wireLimits = WireLimits(
            maxHead: configuration.server.maxHeader, maxTarget: min(8 * 1024, configuration.server.maxHeader))
        self.headerTimeout = .milliseconds(configuration.server.headerTimeout)
        self.idleTimeout = .milliseconds(configuration.server.idleTimeout)
        self.maxBody = configuration.server.maxBody.map(Int64.init)
        self.leaseBounds = LeaseBounds(
            clockSkew: configuration.tokens.clockSkew, maxLifetime: configuration.webSocket.maxLifetime)
        let servesPage = !configuration.routes.contains { $0.path == "/" && $0.host == nil }
        let assets = WebAssets.all.filter { servesPage || $0.path == "/gatehouse.js" }
        self.assets = Dictionary(assets.map { (Array($0.path.utf8), $0) }, uniquingKeysWith: { first, _ in first })
    }

    var explainsErrors: Bool { configuration.errors.explain }

    /// Counts a refusal and hands it to the audit log.
    func observe(_ problem: Problem, requestID: String) {
        metrics.refused(problem.code)
        refused(problem, requestID)
    }

    /// Browsers were told no cookie, because the connection is neither TLS nor loopback: said once.
    func warnOfMissingCookies() {
        guard !hasWarnedOfCookies.exchange(true, ordering: .relaxed) else { return }
        logger.warning(
            "plain http from beyond loopback: no cookies are set; terminate TLS here (server.tls) or at a proxy listed in server.trusted_proxies"
        )
    }

    /// Somebody who is not in the list sent forwarded headers: said once.
    func warnOfForwarding() {
        guard !hasWarnedOfForwarding.exchange(true, ordering: .relaxed) else { return }
        logger.warning(
            "forwarded headers from a peer that is not trusted were ignored; list your proxy in server.trusted_proxies")
    }
}
