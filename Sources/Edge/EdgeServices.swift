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

/// What every connection shares. Immutable, or safe to use from any thread.
package final class EdgeServices: Sendable {
    /// The configuration of the gateway.
    package let configuration: GatewayConfiguration
    /// Verifies tokens and signs assertions.
    package let securityGuard: SecurityGuard
    /// Keeps sessions.
    package let runtime: Runtime
    /// Answers the API.
    package let responder: APIResponder
    /// The configured routes.
    package let routes: RouteTable
    /// The paths that take precedence over routes.
    let ownPaths = OwnPaths(api: APIResponder.paths)
    /// Which web origins may use the gateway.
    package let origins: OriginPolicy
    let census: SocketCensus
    /// The counters of the edge.
    package let metrics: EdgeMetrics
    /// The operator's log.
    package let logger: Logger
    let upstreamLog: UpstreamLog
    /// Milliseconds since the Unix epoch.
    package let clock: @Sendable () -> Int64
    /// Writes a refusal to the audit log.
    package let refused: @Sendable (Problem, String) -> Void
    /// The proxies whose forwarded fields count.
    package let trustedProxies: [AddressBlock]
    /// Names the gateway answers to, lower-case; empty for any.
    package let hosts: Set<[UInt8]>
    let wireLimits: WireLimits
    /// How long a head may take to arrive.
    package let headerTimeout: TimeAmount
    /// How long a client may send or read nothing.
    package let idleTimeout: TimeAmount
    /// `server.max_body`; nil allows bodies of any length.
    let maxBody: Int64?
    /// The limits of every lease besides its token and session.
    let leaseBounds: LeaseBounds
    /// The page and its files by path. Only the client library where a route covers `/`.
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

    /// Counts a refusal and writes it to the audit log.
    func observe(_ problem: Problem, requestID: String) {
        metrics.refused(problem.code)
        refused(problem, requestID)
    }

    /// Logs once that browsers get no cookies, because the connection is neither TLS nor loopback.
    func warnOfMissingCookies() {
        guard !hasWarnedOfCookies.exchange(true, ordering: .relaxed) else { return }
        logger.warning(
            "plain http from beyond loopback: no cookies are set; terminate TLS here (server.tls) or at a proxy listed in server.trusted_proxies"
        )
    }

    /// Logs once that a peer that is not in `server.trusted_proxies` sent forwarded fields.
    func warnOfForwarding() {
        guard !hasWarnedOfForwarding.exchange(true, ordering: .relaxed) else { return }
        logger.warning(
            "forwarded headers from a peer that is not trusted were ignored; list your proxy in server.trusted_proxies")
    }
}
