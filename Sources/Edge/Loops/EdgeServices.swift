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

/// What every connection shares, for one snapshot of the configuration. Immutable, or safe to use from any thread.
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
    let ownPaths: OwnPaths
    /// Whether any route is a protected resource.
    let hasResources: Bool
    /// The protocol sessions of resources.
    let protocolSessions: ProtocolSessionAccess
    /// The embedded Runtime's tools (`runtime.mcp`).
    let tools: ToolService
    /// Which web origins may use the gateway.
    package let origins: OriginPolicy
    /// The limits of requests of the routes.
    let limiters: RouteLimiters
    /// How many sockets each session and each user holds.
    package let socketLimiter: SocketLimiter
    /// The counters of the edge.
    package let metrics: EdgeMetrics
    /// The operator's log.
    package let logger: Logger
    /// Failures of upstreams, for the operator. Kept through reloads, so that its pauses go on.
    let upstreamLog: UpstreamLog
    /// Milliseconds since the Unix epoch.
    package let clock: @Sendable () -> Int64
    /// Writes a refusal to the audit log.
    package let refused: RefusalSink
    /// Which traces are recorded.
    let sampling: TraceSampling
    /// The proxies whose forwarded fields count.
    package let trustedProxies: [AddressBlock]
    /// Names the gateway answers to, lower-case; empty for any.
    package let hosts: Set<[UInt8]>
    /// The limits of every head: `server.max_header`, and for the target at most 8 KiB of it.
    let wireLimits: WireLimits
    /// How long a head may take to arrive.
    package let headerTimeout: TimeAmount
    /// How long a client may send or read nothing.
    package let idleTimeout: TimeAmount
    /// `server.max_body`; nil allows bodies of any length.
    let maxBody: Int64?
    /// The limits of every lease besides its token and session.
    let leaseBounds: LeaseBounds
    /// The pages and their files by path. Where a route covers `/`, only those that are always served.
    let assets: [[UInt8]: WebAsset]
    private let hasWarnedOfCookies = Atomic<Bool>(false)
    private let hasWarnedOfPlainCookies = Atomic<Bool>(false)
    private let hasWarnedOfForwarding = Atomic<Bool>(false)
    private let hasWarnedOfDescriptors = Atomic<Bool>(false)

    /// - Parameters:
    ///   - isTraced: whether spans go anywhere.
    ///   - old: the services before a reload: what does not depend on the configuration is taken over.
    package init(
        configuration: GatewayConfiguration, securityGuard: SecurityGuard, runtime: Runtime, responder: APIResponder,
        protocolSessions: ProtocolSessionAccess, tools: ToolService, origins: OriginPolicy, metrics: EdgeMetrics,
        logger: Logger, clock: @escaping @Sendable () -> Int64, refused: @escaping RefusalSink, isTraced: Bool,
        replacing old: EdgeServices? = nil
    ) {
        self.configuration = configuration
        self.hasResources = configuration.hasResources
        self.ownPaths = OwnPaths(api: APIResponder.paths(with: configuration))
        self.securityGuard = securityGuard
        self.runtime = runtime
        self.responder = responder
        self.routes = RouteTable(configuration.routes, issuer: securityGuard.policy.issuer)
        self.limiters = RouteLimiters(configuration.routes, replacing: old?.limiters)
        self.protocolSessions = protocolSessions
        self.tools = tools
        self.origins = origins
        self.metrics = metrics
        self.logger = logger
        self.upstreamLog = old?.upstreamLog ?? UpstreamLog(logger: logger, clock: clock)
        self.clock = clock
        self.refused = refused
        let most = Self.mostSockets(configuration.limits)
        self.socketLimiter = old?.socketLimiter ?? SocketLimiter(perSession: most.perSession, perUser: most.perUser)
        self.sampling = TraceSampling(isOn: isTraced, ratio: configuration.tracing.ratio)
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
        let assets = WebAssets.all.filter { servesPage || $0.isAlwaysServed }
        self.assets = Dictionary(assets.map { (Array($0.path.utf8), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Applies the limits of this configuration to sockets that are opened from now on. Sockets that are open stay
    /// open.
    package func limitSockets() {
        let most = Self.mostSockets(configuration.limits)
        socketLimiter.limit(perSession: most.perSession, perUser: most.perUser)
    }

    private static func mostSockets(_ limits: GatewayConfiguration.Limits) -> (perSession: Int, perUser: Int) {
        limits.enabled ? (limits.socketsPerSession, limits.socketsPerUser) : (.max, .max)
    }

    /// `errors.explain`: whether clients are told the reason of a refusal.
    var explainsErrors: Bool { configuration.errors.explain }

    /// Counts a refusal and writes it to the audit log. Called once for each refusal that is answered.
    func observe(_ problem: Problem, _ request: RefusedRequest) {
        metrics.refused(problem)
        refused(problem, request)
    }

    /// Logs once that browsers get no cookies, because the connection is neither TLS nor loopback. Each of these
    /// warnings is told once for a snapshot.
    func warnOfMissingCookies() {
        guard !hasWarnedOfCookies.exchange(true, ordering: .relaxed) else { return }
        logger.warning(
            "plain http from beyond loopback: no cookies are set; terminate TLS here (server.tls) or at a proxy listed in server.trusted_proxies"
        )
    }

    /// Logs once that a browser gets cookies without `Secure` though clients are told an https URL: a proxy on this
    /// machine ends TLS, and does not say so.
    func warnOfPlainCookies() {
        guard configuration.tokens.issuer?.hasPrefix("https://") == true,
            !hasWarnedOfPlainCookies.exchange(true, ordering: .relaxed)
        else { return }
        logger.warning(
            "tokens.issuer is https, but a request came over plain http: cookies are set without Secure; have the proxy that ends TLS send X-Forwarded-Proto, and list it in server.trusted_proxies"
        )
    }

    /// Logs once that connections are closed, because hardly any descriptors are left.
    func warnOfDescriptors() {
        guard !hasWarnedOfDescriptors.exchange(true, ordering: .relaxed) else { return }
        logger.warning(
            "new connections are closed: hardly any file descriptors are left; raise the limit (LimitNOFILE, ulimit -n) or set server.max_connections"
        )
    }

    /// Logs once that a peer that is not in `server.trusted_proxies` sent forwarded fields.
    func warnOfForwarding() {
        guard !hasWarnedOfForwarding.exchange(true, ordering: .relaxed) else { return }
        logger.warning(
            "forwarded headers from a peer that is not trusted were ignored; list your proxy in server.trusted_proxies")
    }
}
