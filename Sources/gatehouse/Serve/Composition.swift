import EdgeConfiguration
import Encodings
import Experience
import Exposition
import JOSE
import Logging
import Metrics
import ServiceLifecycle
import StateSurface
import UnixSignals

/// The composition root: opens what the gateway stands on, hands it over, and closes it again in reverse.
struct Composition {
    /// The configuration that was read.
    let loaded: LoadedConfiguration
    /// Where the configuration is read again.
    let source: ConfigurationSource
    let logger: Logger
    let level: SharedLogLevel
    /// Where the log goes, and the access log with `log.access: stderr`.
    let streams: QueuedStreams
    let metrics: PrometheusMetrics
    /// SIGHUP, trapped since before the configuration was read.
    let hangups: UnixSignalsSequence

    /// How long the gateway may take to end: as long as `server.drain` may be after any reload, and ten seconds more. A
    /// service that has not ended by then hangs, and is cancelled.
    static let longestStop: Duration = .milliseconds(ConfigurationBounds.drain.upperBound) + .seconds(10)

    private var configuration: GatewayConfiguration { loaded.configuration }

    /// Runs until the process is told to stop and has drained.
    func run() async throws {
        let audit = try configuration.audit.file.map { path throws(CommandFailure) in
            // With `server.reuse_port`, a new gateway takes over from the old one while both run, and both write the
            // same log.
            try AuditLog(
                path: path, owns: !configuration.server.reusePort, logger: logger, clock: SystemClock.milliseconds)
        }
        defer { audit?.close() }
        let dropped = Counter(
            label: "gatehouse_log_lines_dropped_total", dimensions: [("log", "access")], factory: metrics)
        let access = try configuration.log.access.map { place throws(CommandFailure) in
            try AccessLogFile(place, errors: streams.errors.writer, logger: logger) { dropped.increment(by: $0) }
        }
        defer { access?.close() }
        let state = try await StateSurfaceFactory.open(
            url: configuration.state.url, clock: SystemClock.milliseconds)
        do {
            try await serve(state: state, audit: audit, access: access)
            await state.close()
        } catch {
            await state.close()
            throw error
        }
    }

    /// Runs the gateway with what the steps before have opened.
    private func serve(
        state: any StateSurface, audit: AuditLog?, access: AccessLogFile?
    ) async throws {
        let reloader = Reloader(source, running: loaded, logger: logger, level: level) {
            audit?.reopen()
            access?.reopen()
        }
        var gateway = Gateway(
            configuration: configuration, state: state, clock: SystemClock.milliseconds, logger: logger,
            audit: { event, members in audit?.record(event, members) },
            onReady: { [logger, environment = source.loader.environment] origin in
                reloader.begin()
                Self.tellReady(origin, environment: environment, logger: logger)
            }, metrics: metrics)
        gateway.isAudited = audit != nil
        gateway.accessLog = access
        gateway.version = Version.current
        gateway.inheritedSockets = try SocketActivation.sockets(
            environment: source.loader.environment, listen: configuration.server.listen,
            admin: configuration.server.admin
        ) { name in
            logger.warning(
                "a socket that was passed is not used, and closed: no listener is left for it",
                metadata: ["socket": "\(TerminalText.escaped(name))"])
        }
        gateway.reloadRequested = { await reloader.reload(because: "gatehouse reload") }
        gateway.controls = ProcessOperatorControls(reloader: reloader, level: level)
        await reloader.set(gateway)
        var running: [ServiceGroupConfiguration.ServiceConfiguration] = [
            .init(service: ReloadOnHangup(hangups: hangups, reloader: reloader))
        ]
        if configuration.server.watch {
            running.append(.init(service: ReloadOnChange(source: source, reloader: reloader)))
        }
        // Services are shut down last to first: hangups are still caught while the gateway drains.
        running.append(.init(service: gateway, successTerminationBehavior: .gracefullyShutdownGroup))
        var services = ServiceGroupConfiguration(
            services: running, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        services.maximumGracefulShutdownDuration = Self.longestStop
        try await ServiceGroup(configuration: services).run()
    }

    /// Tells the service manager, if there is one, and standard output that connections are accepted.
    private static func tellReady(_ origin: String, environment: [String: String], logger: Logger) {
        if let place = environment[ServiceNotification.variable], !place.isEmpty,
            !ServiceNotification.send("READY=1", to: place)
        {
            logger.warning(
                "the service manager could not be told that the gateway is ready",
                metadata: ["socket": "\(TerminalText.escaped(place))"])
        }
        Terminal.announce("ready \(origin)")
    }
}
