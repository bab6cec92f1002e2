import EdgeConfiguration
import Experience
import Foundation
import GatewayForTests
import Logging
import Runtime
import SecurityGuard
import StateSurface
import Synchronization

@testable import gatehouse

/// A gateway in the test's own process, configured by the same YAML as the program and read by the same code.
final class GatewayInProcess: GatewayUnderTest {
    let directory: URL
    let origin: String
    let port: Int
    /// The port of the admin listener; nil where it is off.
    var adminPort: Int? { gateway.adminAddress?.port }
    /// The gateway's clock, which a test may put forward.
    let clock: ManualClock
    private let gateway: GatewayForTests
    private let lines: LogLines
    private let audit: AuditLog?
    private let access: AccessLogFile?
    private let flags: [ConfigurationFlag]
    private let end = Mutex<Int32?>(nil)
    private let running: Mutex<GatewayConfiguration>

    /// What it runs with, as ``change(to:environment:)`` left it.
    var configuration: GatewayConfiguration { running.withLock { $0 } }

    var log: String { lines.text }

    private init(
        _ gateway: GatewayForTests, port: Int, directory: URL, clock: ManualClock, lines: LogLines, audit: AuditLog?,
        access: AccessLogFile?, flags: [ConfigurationFlag], running: GatewayConfiguration
    ) {
        self.running = Mutex(running)
        self.access = access
        self.flags = flags
        self.directory = directory
        self.origin = gateway.origin
        self.port = port
        self.clock = clock
        self.gateway = gateway
        self.lines = lines
        self.audit = audit
    }

    /// Relative paths of the configuration are those of the test's process, except `audit.file` and
    /// `log.access`.
    static func start(
        _ configuration: String = "", users: [TestUser] = TestUser.standard, environment: [String: String] = [:],
        directory: URL? = nil, listen: String = "127.0.0.1:0"
    ) async throws -> GatewayInProcess {
        try await start(
            configuration, users: users, environment: environment, directory: directory, listen: listen,
            passwordCost: GatewayForTests.passwordCost)
    }

    /// A gateway with realms besides the built-in ones.
    static func start(
        _ configuration: String, directory: URL? = nil, realms: [any Realm]
    ) async throws -> GatewayInProcess {
        try await start(
            configuration, directory: directory, realms: realms, passwordCost: GatewayForTests.passwordCost)
    }

    /// - Parameters:
    ///   - passwordCost: what hashing costs, for tests that are about it.
    ///   - seriesLimit: how many series of metrics there may be; nil for the usual number.
    static func start(
        _ configuration: String = "", users: [TestUser] = TestUser.standard, environment: [String: String] = [:],
        directory: URL? = nil, listen: String = "127.0.0.1:0", realms: [any Realm] = [],
        passwordCost: ScryptParameters, seriesLimit: Int? = nil
    ) async throws -> GatewayInProcess {
        let folder = try directory ?? GatewayProcess.makeDirectory()
        let end = ContinuousClock.now + .seconds(10)
        while true {
            do {
                return try await open(
                    configuration, users, environment, folder, listen, realms, passwordCost, seriesLimit)
            } catch let failure as Failure where !listen.hasSuffix(":0") && failure.description.contains("is in use") {
                // A port that was chosen before: a program that is being started at this moment has a copy of the
                // socket that showed it to be free, until its own code runs.
                guard ContinuousClock.now < end else { throw failure }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    private static func open(
        _ configuration: String, _ users: [TestUser], _ environment: [String: String], _ folder: URL, _ listen: String,
        _ realms: [any Realm], _ passwordCost: ScryptParameters, _ seriesLimit: Int?
    ) async throws -> GatewayInProcess {
        let lines = LogLines()
        do {
            let loaded = try load(configuration, environment, folder, listen)
            var settings = loaded.configuration
            // A test that says nothing about draining does not wait for it.
            if !configuration.contains("drain") { settings.server.drain = 0 }
            if settings.server.threads == nil { settings.server.threads = 1 }
            let clock = ManualClock()
            let logger = lines.logger(settings.log)
            loaded.logWarnings(to: logger)
            let audit = try settings.audit.file.map { path in
                let file = path.hasPrefix("/") ? path : folder.appendingPathComponent(path).path
                return try AuditLog(path: file, logger: logger, clock: { clock.now })
            }
            let access = try settings.log.access.map { path in
                let file = path.hasPrefix("/") ? path : folder.appendingPathComponent(path).path
                return try AccessLogFile(file, logger: logger) { _ in }
            }
            let gateway = try await GatewayForTests.open(
                settings, clock: clock, logger: logger, passwordCost: passwordCost, realms: realms,
                seriesLimit: seriesLimit ?? GatewayForTests.usualSeriesLimit,
                audit: { audit?.record($0, $1) }, adjust: { $0.accessLog = access },
                prepare: { state, accounts in
                    for user in users where try await state.accounts(emailKey: user.email).isEmpty {
                        _ = try await accounts.add(
                            email: user.email, password: user.password, tenantID: user.tenant, scope: user.scopes)
                    }
                })
            guard let port = port(of: gateway.origin) else { throw Failure(description: "origin \(gateway.origin)") }
            return GatewayInProcess(
                gateway, port: port, directory: folder, clock: clock, lines: lines, audit: audit,
                access: access, flags: flags(environment, folder, listen), running: settings)
        } catch {
            let reason = "not ready: \(ErrorText.failure(error)?.description ?? "\(error)")"
            TestOutputs.keep(log: lines.text + reason, of: folder, kind: "failed.log")
            throw Failure(description: reason)
        }
    }

    /// As `gatehouse serve` would read it.
    private static func load(
        _ yaml: String, _ environment: [String: String], _ folder: URL, _ listen: String
    ) throws -> LoadedConfiguration {
        let file = folder.appendingPathComponent("gatehouse.yaml").path
        try yaml.write(toFile: file, atomically: true, encoding: .utf8)
        let flags = flags(environment, folder, listen)
        let process = ConfigurationLoader.ofProcess()
        return try ConfigurationLoader(environment: environment, contents: process.contents)
            .load(file: file, flags: flags)
    }

    private static func flags(
        _ environment: [String: String], _ folder: URL, _ listen: String
    ) -> [ConfigurationFlag] {
        var flags = [
            ConfigurationFlag(name: "--listen", key: "server.listen", value: listen),
            ConfigurationFlag(name: "--keys", key: "keys.directory", value: folder.path + "/keys"),
        ]
        if environment["GATEHOUSE_SERVER_ADMIN"] == nil {
            flags.append(ConfigurationFlag(name: "--admin", key: "server.admin", value: "off"))
        }
        if environment["GATEHOUSE_STATE_URL"] == nil {
            flags.append(
                ConfigurationFlag(name: "--state", key: "state.url", value: "sqlite:\(folder.path)/state.sqlite"))
        }
        return flags
    }

    /// Has the gateway go on with another configuration, as a reload does: keys that need a restart keep their values.
    @discardableResult
    func change(to yaml: String, environment: [String: String] = [:]) async throws -> ReloadPlan {
        let file = directory.appendingPathComponent("gatehouse.yaml").path
        try yaml.write(toFile: file, atomically: true, encoding: .utf8)
        let loader = ConfigurationLoader(
            environment: environment, contents: ConfigurationLoader.ofProcess().contents)
        var wanted = try loader.load(file: file, flags: flags).configuration
        if !yaml.contains("drain") { wanted.server.drain = 0 }
        let plan = ReloadPlan(running: configuration, wanted: wanted)
        try await gateway.change(to: plan.configuration)
        running.withLock { $0 = plan.configuration }
        return plan
    }

    deinit {
        guard end.withLock({ $0 == nil }) else { return }
        Task.detached { [gateway] in try? await gateway.close() }
    }

    @discardableResult
    func stop() -> Int32 {
        end.withLock { end in
            if let end { return end }
            let ended = DispatchSemaphore(value: 0)
            let status = Atomic<Int32>(0)
            Task.detached { [gateway] in
                do { try await gateway.close() } catch { status.store(1, ordering: .relaxed) }
                ended.signal()
            }
            ended.wait()
            audit?.close()
            access?.close()
            TestOutputs.keep(log: log, of: directory)
            end = status.load(ordering: .relaxed)
            return status.load(ordering: .relaxed)
        }
    }
}

/// Keeps what is logged, as the program would have written it.
private final class LogLines: Sendable {
    private let lines = Mutex("")

    var text: String { lines.withLock { $0 } }

    func logger(_ log: GatewayConfiguration.Log) -> Logger {
        Logger(label: "gatehouse") { label in
            var handler = LineLogHandler(label: label, format: log.format, clock: SystemClock.milliseconds) { line in
                self.lines.withLock { $0 += line }
            }
            handler.logLevel = Logger.Level(rawValue: log.level.rawValue) ?? .info
            return handler
        }
    }
}
