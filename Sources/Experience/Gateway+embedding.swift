import Edge
import EdgeConfiguration
import Encodings
import Exposition
import Foundation
import Logging
import Metrics
import NIOCore
import Runtime
import StateSurface
import Tracing

/// A gateway inside another program: the same parts as `gatehouse serve`, with that program's own realms.
extension Gateway {
    /// Opens the store that the configuration names. ``run()`` closes it again, so run the gateway once it is made.
    ///
    /// Settings that only the executable `gatehouse` carries out are refused, not ignored: `server.watch`, `log.format`
    /// and `log.level` with another value than their default, `audit.file` without `audit`, `log.access` without
    /// `accessLog`. A `log.level` is accepted if it is the logger's.
    ///
    /// - Parameters:
    ///   - realms: what carries out intents besides the built-in realms, whose names can't be used again.
    ///   - logger: takes the messages for the operator. Where they go, in which form and from which level on is its
    ///     affair.
    ///   - audit: called for every event that belongs in an audit log, never with a token, secret or full session id;
    ///     nil for none. It is called while requests are handled, on any thread and on several at a time, so it must be
    ///     quick. It can't fail: what becomes of an event that it can't keep is its own affair.
    ///   - metrics: where counters and gauges are made, the process-wide backend by default. `/metrics` of the admin
    ///     listener shows those of a `PrometheusMetrics`, and does not exist with other backends.
    ///   - tracer: takes the spans of recorded requests, in place of the collector that `tracing.otlp` names;
    ///     `tracing.ratio` counts for it as well. It is given them on the event loops, so it must not wait. The
    ///     program runs it.
    ///   - onReady: called once, with the origin that was bound, when connections are accepted.
    ///   - accessLog: called with lines of the access log: one or more at a time, each a JSON object in UTF-8 with its
    ///     newline; nil for no access log. It is called on the event loops, on several at a time, so it must not wait.
    ///     Lines come within a twentieth of a second, the last before ``run()`` returns. It can't fail: lines that it
    ///     can't take are lost.
    /// - Throws: `ConfigurationError` for a setting that is refused, by its key; otherwise an error whose description
    ///   is one sentence for the operator.
    public init(
        configuration: GatewayConfiguration, realms: [any Realm], logger: Logger,
        metrics: any MetricsFactory = MetricsSystem.factory, tracer: (any Tracer)? = nil,
        audit: (@Sendable (_ event: String, _ members: JSONObject) -> Void)? = nil,
        onReady: @escaping @Sendable (_ origin: String) -> Void = { _ in },
        accessLog: (@Sendable (_ lines: [UInt8]) -> Void)? = nil
    ) async throws {
        try configuration.checkIsCarriedOut(
            audits: audit != nil, takesAccessLog: accessLog != nil, level: logger.logLevel)
        let clock: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
        let unheard: @Sendable (String, JSONObject) -> Void = { _, _ in }
        let state = try await StateSurfaceFactory.open(url: configuration.state.url, clock: clock)
        self.init(
            configuration: configuration, state: state, clock: clock, logger: logger, audit: audit ?? unheard,
            onReady: onReady, realms: realms, metrics: metrics)
        self.isAudited = audit != nil
        self.accessLog = accessLog.map { AccessLines(receive: $0) }
        self.tracer = tracer
        self.isEmbedded = true
    }
}

/// Hands the lines of the access log to an adopter's closure.
private struct AccessLines: LineSink {
    let receive: @Sendable (_ lines: [UInt8]) -> Void

    func take(_ lines: ByteBuffer, count: Int) { receive(Array(lines.readableBytesView)) }
}

extension GatewayConfiguration {
    /// Refuses settings that a gateway inside another program would ignore, since the executable carries them out.
    ///
    /// - Parameters:
    ///   - audits: whether the program takes the events of the audit log.
    ///   - takesAccessLog: whether it takes the lines of the access log.
    ///   - level: the level of the program's logger.
    /// - Throws: `ConfigurationError` for the first.
    func checkIsCarriedOut(
        audits: Bool, takesAccessLog: Bool, level: Logger.Level
    ) throws(ConfigurationError) {
        let defaults = GatewayConfiguration.Log()
        func refuse(_ key: String, _ advice: String) -> ConfigurationError {
            ConfigurationError(.settingUnread, key: key, bounds: advice)
        }
        if server.watch { throw refuse("server.watch", "call 'change(to:)' when its configuration has changed") }
        if log.format != defaults.format { throw refuse("log.format", "give it a logger that writes this format") }
        if log.level != defaults.level, log.level.rawValue != level.rawValue {
            throw refuse("log.level", "give it a logger of this level")
        }
        if log.access != nil, !takesAccessLog { throw refuse("log.access", "give it 'accessLog', which takes lines") }
        if audit.file != nil, !audits { throw refuse("audit.file", "give it 'audit', which takes events") }
    }
}
