import EdgeConfiguration
import Encodings
import Exposition
import Foundation
import Logging
import Metrics
import Runtime
import StateSurface
import Tracing

/// A gateway inside another program: the same parts as `gatehouse serve`, with that program's own realms.
extension Gateway {
    /// Opens the store that the configuration names. ``run()`` closes it again, so run the gateway once it is made.
    ///
    /// - Parameters:
    ///   - realms: what carries out intents besides the built-in realms, whose names can't be used again.
    ///   - audit: called for every event that belongs in an audit log, never with a token, secret or full session id.
    ///     It is called while requests are handled, so it must be quick.
    ///   - metrics: where counters and gauges are made, the process-wide backend by default. `/metrics` of the admin
    ///     listener shows those of a `PrometheusMetrics`, and does not exist with other backends.
    ///   - tracer: takes the spans of recorded requests, in place of the collector that `tracing.otlp` names;
    ///     `tracing.ratio` counts for it as well. It is given them on the event loops, so it must not wait. The
    ///     program runs it.
    ///   - onReady: called once, with the origin that was bound, when connections are accepted.
    /// - Throws: an error whose description is one sentence for the operator.
    public init(
        configuration: GatewayConfiguration, realms: [any Realm], logger: Logger,
        metrics: any MetricsFactory = MetricsSystem.factory, tracer: (any Tracer)? = nil,
        audit: @escaping @Sendable (_ event: String, _ members: JSONObject) -> Void = { _, _ in },
        onReady: @escaping @Sendable (_ origin: String) -> Void = { _ in }
    ) async throws {
        let clock: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
        let state = try await StateSurfaceFactory.open(url: configuration.state.url, clock: clock)
        self.init(
            configuration: configuration, state: state, clock: clock, logger: logger, audit: audit, onReady: onReady,
            realms: realms, metrics: metrics)
        self.tracer = tracer
        self.ownsState = true
    }
}
