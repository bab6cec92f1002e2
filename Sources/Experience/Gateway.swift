import AdminAPI
import Edge
import EdgeConfiguration
import Encodings
import Exposition
import Logging
import Metrics
import Runtime
import SecurityGuard
import ServiceLifecycle
import StateSurface
import Synchronization
import Tracing

/// The gateway as a service: listeners, gate, proxy, sockets, API and the embedded Runtime.
///
/// `run()` opens the listeners, calls `onReady`, serves until a graceful shutdown is asked for, drains and returns.
public struct Gateway: Service, CustomStringConvertible {
    /// As ``run()`` begins with it. A later ``change(to:)`` does not change it.
    let configuration: GatewayConfiguration
    /// The store.
    let state: any StateSurface
    /// Milliseconds since the Unix epoch; safe from any thread.
    let clock: @Sendable () -> Int64
    let logger: Logger
    /// Called on whichever thread an event happens, event loops among them, so it must not wait.
    let audit: @Sendable (_ event: String, _ members: JSONObject) -> Void
    let onReady: @Sendable (_ origin: String) -> Void
    let metrics: any MetricsFactory
    /// The adopter's realms, besides the built-in ones.
    let realms: [any Realm]
    /// Makes the running gateway.
    let build: @Sendable (Gateway) async throws -> RunningGateway
    private let running = CurrentGateway()
    /// Whether the events given to `audit` are kept. If not, they need not be made.
    package var isAudited = true
    /// Takes the lines of the access log; nil for none. It is given whole lines on the event loops and must not wait.
    package var accessLog: (any LineSink)?
    /// Reads the configuration again, when the admin listener is asked to; nil where the process cannot.
    package var reloadRequested: (@Sendable () async -> ReloadOutcome)?
    /// What the program around the gateway knows and does for its operator; nil for a library.
    package var controls: (any OperatorControls)?
    /// Listening sockets that the process was given, in place of those that the configuration names.
    package var inheritedSockets = InheritedSockets()
    /// The version for `gatehouse_build_info`.
    package var version = "library"
    /// The adopter's tracer; nil for one that sends spans to `tracing.otlp`, where that is set.
    package var tracer: (any Tracer)?
    /// What hashing a password costs. Tests use less.
    package var passwordCost = ScryptParameters.current
    /// Whether another program has made it, not the executable: the store was opened for this gateway, which closes it,
    /// and a configuration that it would carry out only in part is refused.
    var isEmbedded = false

    /// - Parameters:
    ///   - state: the open store. The caller that opened it closes it.
    ///   - clock: milliseconds since the Unix epoch.
    ///   - audit: called for every event that belongs in an audit log, never with a token, secret or full session id.
    ///   - onReady: called once, with the origin that was bound (`unix:/PATH` for a Unix socket), when connections are
    ///     accepted.
    ///   - realms: the adopter's realms, besides the built-in ones.
    ///   - metrics: where counters and gauges are made; `/metrics` shows those of a `PrometheusMetrics`.
    package init(
        configuration: GatewayConfiguration, state: any StateSurface, clock: @escaping @Sendable () -> Int64,
        logger: Logger, audit: @escaping @Sendable (String, JSONObject) -> Void = { _, _ in },
        onReady: @escaping @Sendable (String) -> Void = { _ in }, realms: [any Realm] = [],
        metrics: any MetricsFactory = MetricsSystem.factory
    ) {
        self.configuration = configuration.withRuntimeTools()
        self.state = state
        self.clock = clock
        self.logger = logger
        self.audit = audit
        self.onReady = onReady
        self.realms = realms
        self.metrics = metrics
        self.build = { try await buildGateway($0) }
    }

    /// Only its name: loggers print descriptions of services, and the configuration contains the store's password.
    public var description: String { "Gateway" }

    /// The metrics that a gateway records with their help texts, for making a `PrometheusMetrics`.
    public static var metricFamilies: [PrometheusMetrics.Family] { EdgeMetrics.families }

    /// Serves until the task is told to shut down gracefully. Returns when all connections have ended, or when
    /// `server.drain` is over and the rest has been closed. To be called once at a time for a value and its copies.
    ///
    /// - Throws: a one-sentence error when a listener, key or setting can't be used.
    public func run() async throws {
        do {
            try await serve()
        } catch {
            if isEmbedded { await state.close() }
            throw error
        }
        if isEmbedded { await state.close() }
    }

    private func serve() async throws {
        let gateway = try await build(self)
        running.set(gateway)
        defer { running.set(nil) }
        onReady(gateway.place)
        try await gateway.serve { try? await gracefulShutdown() }
    }

    /// Reads the signing keys and the TLS certificate again, at once instead of when their files are next checked.
    ///
    /// For a program that reloads on a signal, for example; the gateway installs no signal handler. Where a file can't
    /// be read, that is logged and the old keys or certificate stay in use. Does nothing unless ``run()`` is serving.
    public func reload() async {
        await running.value?.reload()
    }

    /// Goes on with another configuration, from the next request on: routes, limits, issuers, allowed origins, the
    /// certificate. Sockets and requests in progress go on, but for sockets whose route is gone (4403).
    ///
    /// It is given whole: what the new one does not say is at its default, not as it was. What a gateway reads only
    /// when it starts, such as listeners, the store, keys, tokens and the lifetimes of sessions, must be as the gateway
    /// was made with it.
    ///
    /// To be called from `onReady` on: before, and once ``run()`` no longer serves, nothing is changed. A caller
    /// applies one change after the other, not two at once.
    ///
    /// - Throws: `ConfigurationError` for a setting that can't be used, or that only a new gateway takes over, by its
    ///   key; `GatewayError` where something that a setting names can't be used, such as a certificate. Nothing has
    ///   changed then.
    public func change(to configuration: GatewayConfiguration) async throws {
        if isEmbedded {
            try configuration.checkStartKeys(as: self.configuration)
            try configuration.checkIsCarriedOut(
                audits: isAudited, takesAccessLog: accessLog != nil, level: logger.logLevel)
        }
        try await running.value?.change(to: configuration.withRuntimeTools())
    }
}

/// The gateway that a ``Gateway`` runs at the moment, if any; shared by the copies of that value.
private final class CurrentGateway: Sendable {
    private let gateway = Mutex<RunningGateway?>(nil)

    var value: RunningGateway? { gateway.withLock { $0 } }

    func set(_ running: RunningGateway?) { gateway.withLock { $0 = running } }
}

/// Listening sockets that a process was given.
package struct InheritedSockets: Sendable, Equatable {
    /// The descriptor of the public listener; nil to open one.
    package var `public`: Int32?
    /// The descriptor of the admin listener; nil to open one.
    package var admin: Int32?

    /// - Parameter public: the gateway closes it when it stops, and `admin` as well.
    package init(public: Int32? = nil, admin: Int32? = nil) {
        self.public = `public`
        self.admin = admin
    }
}
