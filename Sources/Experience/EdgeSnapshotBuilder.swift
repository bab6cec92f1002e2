import AgentTools
import Answers
import Edge
import EdgeConfiguration
import EdgeCore
import Gate
import GatewayAPI
import Leases
import Logging
import NIOCore
import NIOSSL
import Passkeys
import Proxy
import Runtime
import SecurityGuard
import SignIn
import StateSurface
import TrafficCop

/// Makes the edge's view of a configuration: at the start, and again at each reload. Made once and kept by
/// ``RunningGateway``. What it holds outlives every snapshot; what a configuration decides is made anew.
struct EdgeSnapshotBuilder: Sendable {
    let gateway: Gateway
    let securityGuard: SecurityGuard
    let runtime: Runtime
    /// Takes over the rates of a reload.
    let trafficCop: TrafficCop
    let signIn: SignInService
    /// Sends requests to identity providers.
    let fetch: GuardedFetch
    /// Fetches the metadata documents of clients.
    let documents: GuardedFetch
    /// The `iss` of tokens. A reload does not change it.
    let issuer: String
    /// The address that was bound. Port 0 is replaced by the port that the system chose.
    let address: ListenAddress
    let loops: LoopStateRegistry
    /// How many event loops there are.
    let loopCount: Int
    let metrics: EdgeMetrics
    /// What all event loops know of the upstreams.
    let upstreamHealth = UpstreamHealthRegistry()

    /// What every connection shares. May be called from any thread; nothing refers to the result until the snapshots
    /// are changed.
    ///
    /// - Parameter old: the services that are replaced.
    /// - Parameter configuration: already checked.
    /// - Throws: where an identity provider can't be used.
    func services(
        for configuration: GatewayConfiguration, replacing old: EdgeServices? = nil
    ) throws -> EdgeServices {
        EdgeServices(
            configuration: configuration, securityGuard: securityGuard, runtime: runtime,
            responder: APIResponder(try api(for: configuration)),
            protocolSessions: ProtocolSessionAccess(store: gateway.state, clock: gateway.clock), tools: tools,
            origins: OriginPolicy(
                configured: configuration.server.allowedOrigins, issuer: issuer,
                loopbackPort: PackedAddress.isLoopback(host: address.host) ? address.port : nil),
            metrics: metrics, logger: gateway.logger, clock: gateway.clock,
            refused: { [gateway] problem, request in gateway.record(problem, of: request) },
            isTraced: gateway.tracer != nil || configuration.tracing.otlp != nil, replacing: old)
    }

    /// The embedded Runtime's tools.
    private var tools: ToolService {
        ToolService(
            server: ToolServer(tools: runtime.intentDescriptions, version: gateway.version), signIn: signIn)
    }

    /// The authorization server of agents. One for the API of each snapshot, one for each gate, and one for each
    /// request to the operator's API that needs it.
    func agents(for configuration: GatewayConfiguration) -> AgentAccess {
        AgentAccess(
            settings: AgentSettings(configuration, issuer: issuer), securityGuard: securityGuard, store: gateway.state,
            fetch: documents.forClientDocuments(allowsPrivate: configuration.clients.allowPrivate),
            clock: gateway.clock, audit: { [gateway] event in gateway.record(event) })
    }

    private func api(for configuration: GatewayConfiguration) throws -> APIServices {
        let (state, grace) = (gateway.state, configuration.state.grace)
        let party = RelyingParty(
            issuer: issuer, id: configuration.passkeys.rpID, allowedOrigins: configuration.server.allowedOrigins)
        let passkeys = party.map { party in
            PasskeyService(party: party, store: state, signIn: signIn, clock: gateway.clock)
        }
        return APIServices(
            securityGuard: securityGuard, runtime: runtime, signIn: signIn,
            agents: agents(for: configuration),
            providers: try configuration.makeProviders(
                issuer: issuer, securityGuard: securityGuard, fetch: fetch, clock: gateway.clock),
            providerMemory: ProviderMemory(store: state, clock: gateway.clock), passkeys: passkeys,
            configuration: configuration, issuer: issuer, clock: gateway.clock, logger: gateway.logger,
            storeIsAlive: { [securityGuard] in
                StoreWatch.health(of: state, securityGuard, grace: grace) == .current
            },
            leasesSettled: { [loops] in await loops.settled() },
            refused: { [gateway, metrics] problem, facts in
                metrics.refused(problem)
                gateway.record(
                    problem,
                    of: RefusedRequest(
                        requestID: facts.requestID, client: facts.peerAddress, path: facts.shownPath, route: "api",
                        method: facts.shownMethod))
            })
    }

    /// The snapshot for one event loop; to be called on it. The cache of verified tokens is taken over from the
    /// snapshot before it, and so is what all loops know of the upstreams. Connections to upstreams are not: the new
    /// pools begin without any.
    ///
    /// - Parameter tls: the TLS context of each route, in their order; nil for one without an upstream that uses TLS.
    /// - Throws: ``GatewayError`` for the URL of an upstream that can't be used.
    func snapshot(_ services: EdgeServices, _ tls: [NIOSSLContext?], for loop: LoopState) throws -> EdgeSnapshot {
        let tokens = loop.snapshot?.gate.tokens ?? VerifiedTokenCache(securityGuard)
        let agents = agents(for: services.configuration)
        return EdgeSnapshot(
            services: services,
            gate: GateMemory(
                tokens: tokens, runtime: runtime, securityGuard: securityGuard, origins: services.origins,
                now: gateway.clock, judgePersonalToken: { try await agents.judge(personalToken: $0) }),
            upstreams: try services.configuration.makePools(
                loop: loop.loop, flushes: loop.flushes, tls: tls, health: upstreamHealth, loops: loopCount,
                makesChecks: loops.all.first.map { $0.eventLoop === loop.loop } ?? true,
                watch: { route in watch(route) }))
    }

    private func watch(_ route: String) -> UpstreamPool.Watch {
        UpstreamPool.Watch(
            upReporter: { [metrics] place in metrics.upstream(place, of: route) },
            ejected: { [metrics, logger = gateway.logger] place in
                metrics.ejected(place, of: route)
                logger.warning(
                    "an upstream fails requests and is left alone for a while",
                    metadata: ["route": "\(route)", "upstream": "\(place)"])
            })
    }
}
