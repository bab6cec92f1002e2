import Experience
import Logging
import Runtime
import ServiceLifecycle
import UnixSignals

/// `gatehouse serve` with a realm of its own. Makes its keys and its store in `var/` on the first run.
@main
enum RealmGateway {
    static func main() async throws {
        let logger = Logger(label: "realm-gateway")
        let configuration = try GatewayConfiguration(
            listen: "127.0.0.1:8080", state: "sqlite:var/realm.sqlite", keys: "var/keys")
        let gateway = try await Gateway(
            configuration: configuration, realms: [OrdersRealm()], logger: logger,
            onReady: { origin in logger.notice("ready", metadata: ["origin": "\(origin)"]) })
        let group = ServiceGroup(
            services: [gateway], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
    }
}
