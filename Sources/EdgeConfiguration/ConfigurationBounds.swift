import SecurityGuard

/// The allowed ranges of a configuration's numbers, for the reader of files and for ``GatewayConfiguration/check()``
/// alike.
/// Times are milliseconds.
package enum ConfigurationBounds {
    private static let day: Int64 = 86_400_000
    private static let longest = 3_650 * day

    /// `server.threads`.
    package static let threads = 1...1_024
    /// `server.max_connections`.
    package static let maxConnections = 1...10_000_000
    /// `server.max_header`.
    package static let maxHeader = 1_024...1_048_576
    /// `server.max_body`, and `max_body` of a route.
    package static let maxBody = 0...(1 << 40)
    /// `server.header_timeout`.
    package static let headerTimeout: ClosedRange<Int64> = 100...600_000
    /// `server.idle_timeout`.
    package static let idleTimeout: ClosedRange<Int64> = 1_000...day
    /// `server.drain`.
    package static let drain: ClosedRange<Int64> = 0...3_600_000
    /// `state.grace`.
    package static let grace: ClosedRange<Int64> = 0...3_600_000
    /// How long sessions and sockets may live.
    package static let lifetime: ClosedRange<Int64> = 1_000...longest
    /// `sessions.per_user`.
    package static let sessionsPerUser = 1...1_000_000
    /// `websocket.max_message`.
    package static let maxMessage = 1_024...(1 << 24)
    /// `websocket.ping`.
    package static let ping: ClosedRange<Int64> = 1_000...3_600_000
    /// `limits.sockets_per_session` and `limits.sockets_per_user`.
    package static let sockets = 1...1_000_000
    /// `limits.login_per_minute`.
    package static let loginPerMinute = 1...1_000_000
    /// `limits.anonymous_per_minute`.
    package static let anonymousPerMinute = 1...10_000_000
    /// `clients.registration_per_hour`.
    package static let registrationPerHour = 1...1_000_000
    /// `clients.registration_lifetime`.
    package static let registrationLifetime: ClosedRange<Int64> = 60_000...longest
    /// `tracing.ratio`.
    package static let tracingRatio: ClosedRange<Double> = 0...1
    /// `fresh` of a route.
    package static let freshness: ClosedRange<Int64> = 1_000...longest
    /// How many receivers `events` may have.
    package static let eventReceivers = 0...32
    /// `timeout` of a route.
    package static let routeTimeout: ClosedRange<Int64> = 100...day
    /// `health.interval` of a route.
    package static let healthInterval: ClosedRange<Int64> = 100...3_600_000
    /// `health.timeout` of a route.
    package static let healthTimeout: ClosedRange<Int64> = 50...60_000
    /// `health.healthy_after`, `health.unhealthy_after` and `outlier.failures` of a route.
    package static let inARow = 1...1_000
    /// How many entries `health.status` of a route may have.
    package static let healthStatuses = 1...500
    /// `outlier.eject` and `outlier.max_eject` of a route.
    package static let eject: ClosedRange<Int64> = 100...day
    /// `slow_start` of a route.
    package static let slowStart: ClosedRange<Int64> = 0...3_600_000
    /// `panic` and `retry.budget` of a route.
    package static let share: ClosedRange<Double> = 0...1
    /// `retry.floor` of a route.
    package static let retryFloor = 0...10_000
    /// `max_requests` and `max_connections` of a route.
    package static let concurrency = 1...1_000_000
    /// `limit.requests` and `limit.burst` of a route.
    package static let limitRequests = 1...1_000_000
    /// `limit.per` of a route.
    package static let limitPeriod: ClosedRange<Int64> = 100...day
}

extension GatewayConfiguration {
    /// Refuses numbers that are out of their bounds, and header fields with a malformed name or value.
    ///
    /// - Throws: ``ConfigurationError`` for the first.
    public func check() throws(ConfigurationError) {
        typealias Bounds = ConfigurationBounds
        try Self.check("server.threads", server.threads, Bounds.threads)
        try Self.check("server.max_connections", server.maxConnections, Bounds.maxConnections)
        try Self.check("server.max_header", server.maxHeader, Bounds.maxHeader)
        try Self.check("server.max_body", server.maxBody, Bounds.maxBody)
        try Self.check("server.header_timeout", server.headerTimeout, Bounds.headerTimeout)
        try Self.check("server.idle_timeout", server.idleTimeout, Bounds.idleTimeout)
        try Self.check("server.drain", server.drain, Bounds.drain)
        try Self.check("state.grace", state.grace, Bounds.grace)
        try Self.check("tokens.access_token_lifetime", tokens.accessTokenLifetime, TokenPolicy.accessTokenLifetimes)
        try Self.check("tokens.refresh_token_lifetime", tokens.refreshTokenLifetime, TokenPolicy.refreshTokenLifetimes)
        try Self.check("tokens.clock_skew", tokens.clockSkew, TokenPolicy.clockSkews)
        try Self.check("sessions.anonymous_idle", sessions.anonymousIdle, Bounds.lifetime)
        try Self.check("sessions.anonymous_lifetime", sessions.anonymousLifetime, Bounds.lifetime)
        try Self.check("sessions.idle", sessions.idle, Bounds.lifetime)
        try Self.check("sessions.lifetime", sessions.lifetime, Bounds.lifetime)
        try Self.check("sessions.per_user", sessions.perUser, Bounds.sessionsPerUser)
        try Self.check("websocket.max_message", webSocket.maxMessage, Bounds.maxMessage)
        try Self.check("websocket.ping", webSocket.ping, Bounds.ping)
        try Self.check("websocket.max_lifetime", webSocket.maxLifetime, Bounds.lifetime)
        try Self.check("limits.sockets_per_session", limits.socketsPerSession, Bounds.sockets)
        try Self.check("limits.sockets_per_user", limits.socketsPerUser, Bounds.sockets)
        try Self.check("limits.login_per_minute", limits.loginPerMinute, Bounds.loginPerMinute)
        try Self.check("limits.anonymous_per_minute", limits.anonymousPerMinute, Bounds.anonymousPerMinute)
        try Self.check(
            "clients.registration_per_hour", clients.registrationPerHour, Bounds.registrationPerHour)
        try Self.check(
            "clients.registration_lifetime", clients.registrationLifetime, Bounds.registrationLifetime)
        guard accounts.registrationTenants.allSatisfy(NameRule.isTenant) else {
            throw ConfigurationError(.tenantMalformed, key: "accounts.registration_tenants")
        }
        try Self.check("tracing.ratio", tracing.ratio, Bounds.tracingRatio)
        try checkProviders()
        if let domain = passkeys.rpID, let issuer = tokens.issuer,
            !PasskeysConfiguration.mayUse(domain, issuer: issuer)
        {
            throw ConfigurationError(.relyingPartyForeign, key: "passkeys.rp_id")
        }
        try Self.check("events", events.count, Bounds.eventReceivers)
        for (index, route) in routes.enumerated() {
            try Self.check("routes[\(index)].timeout", route.timeout, Bounds.routeTimeout)
            try Self.check("routes[\(index)].max_body", route.maxBody, Bounds.maxBody)
            try Self.check("routes[\(index)].fresh", route.fresh, Bounds.freshness)
            try check(route, "routes[\(index)].")
            guard !route.hasUnmeetableTerms else { throw ConfigurationError(.callerUnknown, key: "routes[\(index)]") }
            guard route.headers.allSatisfy(\.isWellFormed) else {
                throw ConfigurationError(.headerMalformed, key: "routes[\(index)].headers")
            }
        }
    }

    private func check(_ route: RouteConfiguration, _ prefix: String) throws(ConfigurationError) {
        typealias Bounds = ConfigurationBounds
        try Self.check(prefix + "health.interval", route.health?.interval, Bounds.healthInterval)
        try Self.check(prefix + "health.timeout", route.health?.timeout, Bounds.healthTimeout)
        try Self.check(prefix + "health.healthy_after", route.health?.healthyAfter, Bounds.inARow)
        try Self.check(prefix + "health.unhealthy_after", route.health?.unhealthyAfter, Bounds.inARow)
        try Self.check(prefix + "health.status", route.health?.status.count, Bounds.healthStatuses)
        try Self.check(prefix + "outlier.failures", route.outlier?.failures, Bounds.inARow)
        try Self.check(prefix + "outlier.eject", route.outlier?.eject, Bounds.eject)
        try Self.check(prefix + "outlier.max_eject", route.outlier?.maxEject, Bounds.eject)
        try Self.check(prefix + "slow_start", route.slowStart, Bounds.slowStart)
        try Self.check(prefix + "panic", route.panic, Bounds.share)
        try Self.check(prefix + "retry.budget", route.retry?.budget, Bounds.share)
        try Self.check(prefix + "retry.floor", route.retry?.floor, Bounds.retryFloor)
        try Self.check(prefix + "max_requests", route.maxRequests, Bounds.concurrency)
        try Self.check(prefix + "max_connections", route.maxConnections, Bounds.concurrency)
        try Self.check(prefix + "limit.requests", route.limit?.requests, Bounds.limitRequests)
        try Self.check(prefix + "limit.burst", route.limit?.burst, Bounds.limitRequests)
        try Self.check(prefix + "limit.per", route.limit?.per, Bounds.limitPeriod)
        guard route.knowsLimitSubject else { throw ConfigurationError(.callerUnknown, key: prefix + "limit.by") }
        guard route.clientCertificate == .none || server.tls?.clientCA != nil else {
            throw ConfigurationError(.clientAuthorityMissing, key: prefix + "client_certificate")
        }
    }

    /// Refuses providers that can't be used. A secret in a file is read when the gateway starts.
    private func checkProviders() throws(ConfigurationError) {
        for (index, entry) in identityProviders.enumerated() {
            let secret = entry.clientSecret ?? entry.clientSecretFile.map { _ in .init("in a file") }
            if let fault = entry.resolved(secret: secret).faults.first {
                throw ConfigurationError(
                    .providerRefused, key: "identity_providers[\(index)].\(fault.key)", bounds: fault.sentence)
            }
            if identityProviders.prefix(index).contains(where: { $0.name == entry.name }) {
                throw ConfigurationError(
                    .providerRefused, key: "identity_providers[\(index)].name", bounds: "a name of its own")
            }
        }
    }

    private static func check<Number: Comparable>(
        _ key: String, _ value: Number?, _ bounds: ClosedRange<Number>
    ) throws(ConfigurationError) {
        guard let value, !bounds.contains(value) else { return }
        throw ConfigurationError(.outOfBounds, key: key, bounds: "\(bounds.lowerBound) to \(bounds.upperBound)")
    }
}

extension RouteConfiguration.Header {
    /// Whether the name is a token (RFC 9110 section 5.6.2) and the value visible ASCII and spaces.
    fileprivate var isWellFormed: Bool {
        HTTPToken.matches(name) && value.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    }
}
