import Answers
import AsyncHTTPClient
import Edge
import EdgeConfiguration
import EdgeCore
import Encodings
import Foundation
import Gate
import GatewayAPI
import JOSE
import Leases
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Proxy
import Runtime
import SecurityGuard
import SignIn
import StateSurface
import TrafficCop

/// Builds the gateway from its parts, in this order:
///
/// 1. listeners: bound first, since the port may decide the issuer; nothing is accepted yet;
/// 2. SecurityGuard: keys, tokens, accounts;
/// 3. Traffic Cop and Runtime: limits, and sessions with their agents;
/// 4. the API behind Hummingbird's router;
/// 5. the edge: one set of caches, pools and leases per event loop;
/// 6. the change feed into the leases; accepting begins.
func buildGateway(_ gateway: Gateway) async throws -> RunningGateway {
    let configuration = gateway.configuration
    try configuration.check()
    let group = MultiThreadedEventLoopGroup(
        numberOfThreads: configuration.server.threads ?? System.coreCount)
    do {
        return try await assemble(gateway, configuration, group)
    } catch {
        try? await group.shutdownGracefully()
        throw error
    }
}

private func assemble(
    _ gateway: Gateway, _ configuration: GatewayConfiguration, _ group: MultiThreadedEventLoopGroup
) async throws -> RunningGateway {
    let loops = Array(group.makeIterator())
    let tls = try configuration.server.tls.map { try ServerTLS($0) }

    // 1. Listeners. The pipeline of a connection exists only when everything behind it does.
    let pipeline = PipelineBox()
    let server = configuration.server
    let listener = try await Listener.bind(server.listen, socketMode: server.socketMode, on: group) { channel in
        guard let ready = pipeline.value else {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        return ready.connect(channel)
    }
    let scheme = tls == nil ? "http" : "https"
    let issuer = configuration.tokens.issuer ?? "\(scheme)://\(listener.address.authority)"

    // 2. SecurityGuard.
    let guardParts = try await makeSecurityGuard(gateway, issuer: issuer)

    // 3. Traffic Cop and Runtime.
    let limits = configuration.limits
    let counterSecret = try await gateway.state.sharedSecret(
        name: "login counters", candidate: TrafficCop.makeCounterSecret())
    let trafficCop = try TrafficCop(
        limits: RateLimits(
            enabled: limits.enabled, anonymousPerMinute: limits.anonymousPerMinute,
            loginPerMinute: limits.loginPerMinute), counterSecret: counterSecret, clock: gateway.clock)
    let sessions = configuration.sessions
    let runtime = Runtime(
        state: gateway.state, cop: trafficCop,
        policy: SessionPolicy(
            anonymousIdle: sessions.anonymousIdle, anonymousLifetime: sessions.anonymousLifetime, idle: sessions.idle,
            lifetime: sessions.lifetime, perUser: sessions.perUser, clockSkew: configuration.tokens.clockSkew),
        realms: gateway.realms, clock: gateway.clock,
        agentLimits: AgentLimits(maxMessage: configuration.webSocket.maxMessage),
        audit: { event in if gateway.isAudited { gateway.audit(event.name.rawValue, event.members) } })

    // 4. The API.
    let loopStates = LoopStates()
    let held = HeldSessions()
    let watch = LeaseWatch(
        loops: loopStates, held: held, runtime: runtime, state: gateway.state, clock: gateway.clock,
        skew: configuration.tokens.clockSkew)
    let state = gateway.state
    let grace = configuration.state.grace
    let signIn = SignInService(
        securityGuard: guardParts.guard, runtime: runtime, trafficCop: trafficCop, store: gateway.state,
        countFailures: { [clock = gateway.clock] key, adding in
            try await state.count(key: key, adding: adding, window: TrafficCop.loginWindow, now: clock())
        }, sessionEnding: { watch.sessionEnding($0) })
    let metrics = EdgeMetrics(gateway.metrics)
    let refused: @Sendable (Problem, String) -> Void = { problem, requestID in
        gateway.audit(
            "request.refused",
            [
                "code": .string(problem.code.rawValue), "reason": .string(problem.reason ?? ""),
                "request_id": .string(requestID),
            ])
    }
    let api = APIServices(
        securityGuard: guardParts.guard, runtime: runtime, trafficCop: trafficCop, signIn: signIn,
        configuration: configuration, issuer: issuer, clock: gateway.clock, logger: gateway.logger,
        sessionIDOfSecret: { hash in try await state.session(secretHash: hash)?.id },
        storeIsAlive: { [securityGuard = guardParts.guard] in
            StoreWatch.health(of: state, securityGuard, grace: grace) == .current
        },
        leasesSettled: { await loopStates.settled() },
        refused: { problem, requestID in
            metrics.refused(problem.code)
            refused(problem, requestID)
        })

    // 5. The edge.
    let address = listener.address
    let isLoopback = address.host == "localhost" || IPAddress.bytes(of: address.host).map(IPAddress.isLoopback) ?? false
    let services = EdgeServices(
        configuration: configuration, securityGuard: guardParts.guard, runtime: runtime,
        responder: makeAPIResponder(api),
        origins: OriginPolicy(
            configured: configuration.server.allowedOrigins, issuer: issuer,
            loopbackPort: isLoopback ? address.port : nil),
        metrics: metrics, logger: gateway.logger, clock: gateway.clock, refused: refused)
    let upstreamTLS = try UpstreamTrust.contexts(for: configuration.routes)
    for loop in loops {
        try await loop.submit {
            let flushes = FlushQueue(loop: loop)
            let pools = try configuration.makePools(loop: loop, flushes: flushes, tls: upstreamTLS)
            let leases = LeaseTable(
                now: gateway.clock(),
                authority: LeaseVerifier(
                    runtime: runtime, securityGuard: guardParts.guard, watch: watch, held: held, clock: gateway.clock))
            let state = LoopState(
                loop: loop,
                gate: GateMemory(
                    tokens: VerifiedTokenCache(guardParts.guard), runtime: runtime,
                    securityGuard: guardParts.guard, origins: services.origins, now: gateway.clock),
                leases: leases, upstreams: pools, flushes: flushes, now: gateway.clock)
            loopStates.add(NIOLoopBound(state, eventLoop: loop))
        }.get()
    }
    pipeline.value = EdgePipeline(services: services, loops: loopStates.byLoop, tls: tls)

    // 6. From here on the feed ends leases; then accepting begins.
    watch.start()
    let place = listener.address.path == nil ? "\(scheme)://\(listener.address)" : "\(listener.address)"
    let running = RunningGateway(
        place: place, group: group, listener: listener, loops: loopStates, services: services, runtime: runtime,
        securityGuard: guardParts.guard, watch: watch, state: state, http: guardParts.http, tls: tls,
        logger: gateway.logger)
    try await running.openAdmin()
    listener.open()
    return running
}

private func makeSecurityGuard(
    _ gateway: Gateway, issuer: String
) async throws -> (guard: SecurityGuard, http: HTTPClient) {
    let configuration = gateway.configuration
    let policy = try TokenPolicy(configuration, issuer: issuer, scrypt: gateway.passwordCost)
    let passphrase = try configuration.keys.readPassphrase()
    let keys = KeyDirectory(
        path: configuration.keys.directory, policy: policy, passphrase: passphrase, clock: gateway.clock)
    let isFirstRun = try keys.load() == nil
    // A key set is only fetched from the configured address: redirects are not followed.
    let http = HTTPClient(
        eventLoopGroupProvider: .singleton, configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
    do {
        let guarded = try await SecurityGuard(
            policy: policy, keyDirectory: keys, state: gateway.state, issuers: try configuration.trustedIssuers(),
            sharesStore: gateway.state.capabilities.isSharedBetweenMachines, fetch: { try await fetchKeySet($0, http) },
            clock: gateway.clock,
            audit: { event in gateway.audit(event.name.rawValue, event.members) })
        if isFirstRun {
            let made =
                passphrase == nil ? "a development key was generated, unencrypted" : "one was generated, encrypted"
            gateway.logger.notice(
                "no signing key was there: \(made)",
                metadata: ["directory": "\(configuration.keys.directory)"])
        }
        return (guarded, http)
    } catch {
        try? await http.shutdown()
        throw error
    }
}

/// Fetches a remote key set, with a time limit of a few seconds, a limited size and no redirects.
private func fetchKeySet(_ url: String, _ http: HTTPClient) async throws -> [UInt8] {
    var request = HTTPClientRequest(url: url)
    request.headers.add(name: "accept", value: "application/jwk-set+json, application/json")
    let response = try await http.execute(request, timeout: .seconds(5))
    guard response.status == .ok else {
        throw GatewayError(.keySetUnavailable, "the key set answered \(response.status.code)")
    }
    return Array(try await response.body.collect(upTo: 256 * 1024).readableBytesView)
}

extension SessionAudit {
    /// The event as the audit log writes it. It contains a part of the session's id, enough to find the session again.
    fileprivate var members: JSONObject {
        var members = JSONObject()
        members["session"] = .string(reference)
        if !reason.isEmpty { members["reason"] = .string(reason) }
        for (name, value) in [
            ("tenant_id", tenantID), ("user_id", userID), ("fid", familyID), ("request_id", AuditContext.requestID),
        ] {
            if let value { members[name] = .string(value) }
        }
        if let epoch { members["epoch"] = .integer(epoch) }
        return members
    }
}

extension AuditEvent {
    /// The event as the audit log writes it.
    fileprivate var members: JSONObject {
        var members = JSONObject()
        if !reason.isEmpty { members["reason"] = .string(reason) }
        for (name, value) in [
            ("tenant_id", tenantID), ("user_id", subject), ("client_id", clientID), ("fid", familyID),
            ("request_id", requestID),
        ] {
            if let value { members[name] = .string(value) }
        }
        return members
    }
}

extension GatewayConfiguration {
    /// - Parameter tls: the TLS context of each route; nil where no upstream of the route uses TLS.
    fileprivate func makePools(
        loop: any EventLoop, flushes: FlushQueue, tls: [NIOSSLContext?]
    ) throws -> UpstreamPools {
        let pools = try zip(routes, tls).map { route, tls in
            UpstreamPool(
                loop: loop, flushes: flushes, targets: try route.upstreams.map(Self.target), tls: tls,
                serverName: route.upstreamTLS.name, connectTimeout: .milliseconds(min(5_000, route.timeout)))
        }
        // `runtime.url` supports only plain connections.
        let runtimePool = try runtime.url.map { url in
            UpstreamPool(
                loop: loop, flushes: flushes, targets: [try Self.target(url)], tls: nil, connectTimeout: .seconds(5))
        }
        return UpstreamPools(pools: pools, runtime: runtimePool)
    }

    private static func target(_ url: String) throws -> UpstreamTarget {
        guard let target = UpstreamTarget(url) else {
            throw GatewayError(
                .upstreamURL, "'\(url)' is no upstream: give http://HOST[:PORT], https://HOST[:PORT] or unix:/PATH")
        }
        return target
    }

    fileprivate func trustedIssuers() throws -> [TrustedIssuer] {
        try issuers.map { entry in
            let isURL = entry.jwks.hasPrefix("http://") || entry.jwks.hasPrefix("https://")
            let keys: TrustedIssuer.Keys
            if isURL {
                keys = .url(entry.jwks)
            } else if let data = FileManager.default.contents(atPath: entry.jwks) {
                keys = .inline(Array(data))
            } else {
                throw GatewayError(.keySetUnreadable, "issuers: the key set \(entry.jwks) can't be read")
            }
            let algorithms = entry.algorithms.compactMap(SignatureAlgorithm.init(rawValue:))
            var trusted = TrustedIssuer(
                issuer: entry.issuer, keys: keys, audiences: entry.audience, tenants: entry.tenants)
            if !algorithms.isEmpty { trusted.algorithms = algorithms }
            trusted.scopes = Dictionary(entry.scopes.map { ($0, [$0]) }, uniquingKeysWith: { first, _ in first })
            return trusted
        }
    }
}
