import HTTPWire
import Logging
import NIOCore
import Runtime
import SecurityGuard
import Synchronization
import TrafficCop

/// How far the store can be trusted right now, by the age of its feed's last sign of life.
enum StoreHealth: Sendable {
    /// It answers: memory is true.
    case current
    /// It is silent, but not for longer than `state.grace`: what was verified goes on, nothing new begins.
    case silent
    /// It has been silent for too long: nothing that rests on it goes on.
    case lost
}

/// What every connection shares. Immutable, or safe from any thread.
final class EdgeServices: Sendable {
    let configuration: GatewayConfiguration
    let securityGuard: SecurityGuard
    let runtime: Runtime
    let responder: APIResponder
    let routes: RouteTable
    let origins: OriginPolicy
    let census: SocketCensus
    let metrics: EdgeMetrics
    let logger: Logger
    let upstreamLog: UpstreamLog
    let clock: @Sendable () -> Int64
    let refused: @Sendable (Problem, String) -> Void
    let trustedProxies: [AddressBlock]
    /// Names the gateway answers to, lower-case; empty for any.
    let hosts: Set<[UInt8]>
    let wireLimits: WireLimits
    let headerTimeout: TimeAmount
    let idleTimeout: TimeAmount
    /// The page and its files by path; only the client library where a route covers `/`.
    let assets: [[UInt8]: WebAsset]
    private let hasWarnedOfCookies = Atomic<Bool>(false)
    private let hasWarnedOfForwarding = Atomic<Bool>(false)

    init(
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
        self.hosts = Set(configuration.server.hosts.map { Dispatcher.withoutPort(Array($0.lowercased().utf8)) })
        self.wireLimits = WireLimits(
            maxHead: configuration.server.maxHeader, maxTarget: min(8 * 1024, configuration.server.maxHeader))
        self.headerTimeout = .milliseconds(configuration.server.headerTimeout)
        self.idleTimeout = .milliseconds(configuration.server.idleTimeout)
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
