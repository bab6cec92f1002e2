import AuthorizationServer
import Edge
import EdgeConfiguration
import Gate
import Leases
import NIOCore
import Proxy
import Runtime
import SecurityGuard
import TrafficCop

extension RunningGateway {
    /// Goes on with another configuration, from the next request on. Requests in progress and sockets go on, but for
    /// sockets whose route is gone, and for sockets and streams that rest on tokens that are accepted no more.
    ///
    /// What a configuration can get wrong is found before anything is replaced, so that error has changed nothing. What
    /// a listener, the store, the keys and tokens, or the lifetimes of sessions were set up with stays as it was at the
    /// start: the caller keeps these settings.
    ///
    /// The loops change one after the other, so for a moment requests are answered by both configurations. Nothing is
    /// changed once the gateway has stopped.
    ///
    /// - Throws: an error whose description is one sentence for the operator.
    func change(to configuration: GatewayConfiguration) async throws {
        try await changes.perform { try await replace(by: configuration) }
    }

    private func replace(by configuration: GatewayConfiguration) async throws {
        try configuration.check()
        try configuration.checkResources()
        try configuration.checkTools()
        let issuers = try securityGuard.trustedIssuers.replacement(
            by: configuration.trustedIssuers(fetch: builder.fetch.forProviders))
        let certificate = try configuration.server.tls.flatMap { files in
            try tls?.replacement(by: files, asking: CertificateHosts(configuration.routes))
        }
        let contexts = try UpstreamTrust.contexts(for: configuration.routes)
        let upstreams = try configuration.upstreamPlaces()
        let watched = try configuration.watchedUpstreams()
        let services = try builder.services(for: configuration, replacing: self.services)

        // Before the snapshots, which ask whether any issuer's tokens are accepted at the gate.
        issuers()
        securityGuard.resources.replace(
            by: configuration.ownResources(issuer: builder.issuer),
            foreign: configuration.foreignResources(issuer: builder.issuer))
        securityGuard.foreignTokens.forget()
        var made: [(loop: NIOLoopBound<LoopState>, snapshot: NIOLoopBound<EdgeSnapshot>)] = []
        for bound in loops.all {
            let snapshot = try await bound.eventLoop.submit { [builder] in
                NIOLoopBound(try builder.snapshot(services, contexts, for: bound.value), eventLoop: bound.eventLoop)
            }.get()
            made.append((bound, snapshot))
        }
        certificate?()
        services.metrics.expect(upstreams: upstreams)
        builder.upstreamHealth.adopt(watched)
        builder.trafficCop.limit(RateLimits(configuration.limits))
        builder.runtime.limit(
            maxMessage: configuration.webSocket.maxMessage, sessionsPerUser: configuration.sessions.perUser)
        services.limitSockets()
        self.services = services
        pipeline.value = EdgePipeline(services: services, loops: loops.byLoop, tls: tls)
        for (loop, snapshot) in made {
            try? await loop.eventLoop.submit { [securityGuard] in
                let old = loop.value.snapshot
                loop.value.change(to: snapshot.value)
                loop.value.leases.acceptanceChanged { securityGuard.acceptsTokens(of: $0, for: $1) }
                // Tokens of an issuer that is no longer trusted must not be remembered.
                snapshot.value.gate.tokens.removeAll()
                for pool in old?.upstreams.all ?? [] { pool.retire() }
                old?.upstreams.runtime?.retire()
            }.get()
        }
    }
}

extension RateLimits {
    /// `limits.*`.
    init(_ limits: GatewayConfiguration.Limits) {
        self.init(
            enabled: limits.enabled, anonymousPerMinute: limits.anonymousPerMinute,
            loginPerMinute: limits.loginPerMinute)
    }
}
