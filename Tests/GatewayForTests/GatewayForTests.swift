import EdgeConfiguration
import Encodings
import Experience
import Exposition
import Foundation
import Logging
import Runtime
import SecurityGuard
import StateSurface

/// A whole gateway in the test's own process: real listeners, a store and a clock that the test holds as well, and
/// password hashes that cost next to nothing.
///
///     try await withGateway { gateway in
///         try await gateway.addAccount("ada@example.com", password: "correct horse", tenant: "acme")
///         …requests to gateway.origin…
///     }
package final class GatewayForTests: Sendable {
    /// The cheapest hash that the code believes in.
    package static let passwordCost = ScryptParameters(logN: 1, r: 1, p: 1)
    /// How many series of metrics a gateway keeps unless told otherwise.
    package static let usualSeriesLimit = PrometheusMetrics.defaultSeriesLimit

    /// Such as `http://127.0.0.1:49152`, or `unix:/PATH`.
    package let origin: String
    package let clock: ManualClock
    /// Where the admin listener was bound; nil where there is none.
    package var adminAddress: ListenAddress? { gateway.adminAddress }
    /// The gateway's own store.
    package let state: any StateSurface
    private let accounts: Accounts
    private let gateway: OpenGateway

    private init(_ gateway: OpenGateway, _ state: any StateSurface, _ accounts: Accounts, _ clock: ManualClock) {
        self.origin = gateway.origin
        self.gateway = gateway
        self.state = state
        self.accounts = accounts
        self.clock = clock
    }

    /// Opens the store and the gateway that the configuration describes.
    ///
    /// - Parameters:
    ///   - configuration: ``configuration(in:)``, changed as the test wants it.
    ///   - passwordCost: what hashing costs the gateway; a test of overload may want it dear.
    ///   - realms: realms besides the built-in ones.
    ///   - seriesLimit: how many series of metrics there may be.
    ///   - audit: hears of everything that is worth an audit line.
    ///   - adjust: changes what the gateway is given besides, such as its logs.
    ///   - prepare: makes what must be in the store before the gateway accepts connections.
    package static func open(
        _ configuration: GatewayConfiguration, clock: ManualClock = ManualClock(),
        logger: Logger = Logger(label: "gatehouse", factory: { _ in SwiftLogNoOpLogHandler() }),
        passwordCost: ScryptParameters = GatewayForTests.passwordCost, realms: [any Realm] = [],
        seriesLimit: Int = GatewayForTests.usualSeriesLimit,
        audit: @escaping @Sendable (_ event: String, _ members: JSONObject) -> Void = { _, _ in },
        adjust: (inout Gateway) -> Void = { _ in },
        prepare: (any StateSurface, Accounts) async throws -> Void = { _, _ in }
    ) async throws -> GatewayForTests {
        let time: @Sendable () -> Int64 = { clock.now }
        let state = try await StateSurfaceFactory.open(url: configuration.state.url, clock: time)
        do {
            let accounts = Accounts(state: state, policy: policy(of: configuration, passwordCost), clock: time)
            try await prepare(state, accounts)
            // Counters of its own: other gateways of the process have theirs.
            var gateway = Gateway(
                configuration: configuration, state: state, clock: time, logger: logger, audit: audit, realms: realms,
                metrics: PrometheusMetrics(families: Gateway.metricFamilies, seriesLimit: seriesLimit))
            gateway.passwordCost = passwordCost
            adjust(&gateway)
            return GatewayForTests(try await gateway.open(), state, accounts, clock)
        } catch {
            await state.close()
            throw error
        }
    }

    /// A configuration whose gateway keeps everything in one folder and listens on a free port, without an admin
    /// listener.
    package static func configuration(in folder: URL) -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.server.listen = ListenAddress(host: "127.0.0.1", port: 0)
        configuration.server.admin = nil
        configuration.server.threads = 1
        configuration.server.drain = 0
        configuration.state.url = "sqlite:\(folder.path)/state.sqlite"
        configuration.keys.directory = "\(folder.path)/keys"
        return configuration
    }

    /// What accounts are made by; the rest of the policy is the gateway's own affair.
    private static func policy(of configuration: GatewayConfiguration, _ cost: ScryptParameters) -> TokenPolicy {
        TokenPolicy(
            issuer: "http://gateway.test", defaultScope: configuration.accounts.defaultScope,
            defaultTenant: configuration.accounts.defaultTenant ?? "default", scrypt: cost)
    }

    /// Goes on with another configuration.
    package func change(to configuration: GatewayConfiguration) async throws {
        try await gateway.change(to: configuration)
    }

    /// Makes an account to log in with.
    @discardableResult
    package func addAccount(
        _ email: String, password: String, tenant: String, scope: [String]? = nil
    ) async throws -> AccountRecord {
        try await accounts.add(email: email, password: password, tenantID: tenant, scope: scope)
    }

    /// Drains the gateway and closes its store.
    package func close() async throws {
        do {
            try await gateway.drain()
            await state.close()
        } catch {
            await state.close()
            throw error
        }
    }
}

/// Runs `body` against a gateway that is there for it alone, and leaves nothing behind.
///
/// - Parameters:
///   - adjust: changes the configuration before the gateway is opened.
///   - adjustGateway: changes what the gateway is given besides, such as its tracer.
package func withGateway<Result>(
    adjust: (inout GatewayConfiguration) -> Void = { _ in }, clock: ManualClock = ManualClock(),
    adjustGateway: (inout Gateway) -> Void = { _ in }, _ body: (GatewayForTests) async throws -> Result
) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = GatewayForTests.configuration(in: folder)
    adjust(&configuration)
    let gateway = try await GatewayForTests.open(configuration, clock: clock, adjust: adjustGateway)
    do {
        let result = try await body(gateway)
        try await gateway.close()
        return result
    } catch {
        try? await gateway.close()
        throw error
    }
}
