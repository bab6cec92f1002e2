import EdgeConfiguration
import Encodings
import Experience
import Exposition
import Logging
import ServiceLifecycle
import StateSurface
import UnixSignals

/// The composition root: opens what the gateway stands on, hands it over, and closes it again in reverse.
struct Composition {
    let configuration: GatewayConfiguration
    let logger: Logger

    /// Runs until the process is told to stop and has drained.
    func run() async throws {
        let audit = try configuration.audit.file.map { path throws(CommandFailure) in
            try AuditLog(path: path, logger: logger, clock: SystemClock.milliseconds)
        }
        defer { audit?.close() }
        let state = try await StateSurfaceFactory.open(
            url: configuration.state.url, clock: SystemClock.milliseconds)
        do {
            try await serve(state: state, audit: audit)
            await state.close()
        } catch {
            await state.close()
            throw error
        }
    }

    private func serve(state: any StateSurface, audit: AuditLog?) async throws {
        var gateway = Gateway(
            configuration: configuration, state: state, clock: SystemClock.milliseconds, logger: logger,
            audit: { event, members in audit?.record(event, members) },
            onReady: { origin in Terminal.answer("ready \(origin)") },
            metrics: PrometheusMetrics(families: Gateway.metricFamilies))
        gateway.isAudited = audit != nil
        // Services are shut down last to first: hangups are still caught while the gateway drains.
        var services = ServiceGroupConfiguration(
            services: [
                .init(service: ReloadOnHangup(gateway: gateway)),
                .init(service: gateway, successTerminationBehavior: .gracefullyShutdownGroup),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        // The gateway drains by itself; what has not come to an end long after that is not going to.
        services.maximumGracefulShutdownDuration = .milliseconds(configuration.server.drain) + .seconds(10)
        try await ServiceGroup(configuration: services).run()
    }
}
