import AdminAPI
import EdgeConfiguration
import Logging
import Synchronization
import Testing

@testable import gatehouse

/// A reloader without a gateway, whose files a test holds.
@Suite("Reloading the configuration") struct ReloaderTests {
    /// The configuration file, and what was done and said.
    private final class World: Sendable {
        private let yaml: Mutex<String>
        private let lines = Mutex<[String]>([])
        let reopened = Atomic<Int>(0)

        init(_ yaml: String) { self.yaml = Mutex(yaml) }

        /// What was said of reloads, and not of the configuration itself.
        var log: [String] { lines.withLock { $0 }.filter { $0.contains("cause=") } }

        func write(_ text: String) { yaml.withLock { $0 = text } }

        var source: ConfigurationSource {
            let loader = ConfigurationLoader(environment: [:]) { [self] path throws(ConfigurationFault) in
                path == "g.yaml" ? Array(yaml.withLock { $0 }.utf8) : nil
            }
            return ConfigurationSource(file: "g.yaml", loader: loader)
        }

        func reloader() throws -> Reloader {
            let logger = Logger(label: "test") { _ in
                LineLogHandler(label: "test", format: .text, clock: { 0 }) { line in
                    self.lines.withLock { $0.append(line) }
                }
            }
            let loaded = try source.load()
            return Reloader(
                source, running: loaded, logger: logger, level: SharedLogLevel(loaded.configuration.log.level)
            ) { [self] in reopened.add(1, ordering: .relaxed) }
        }
    }

    private static let good = "limits: {login_per_minute: 7}\n"
    private static let wrong = "limits: {login_per_minute: none}\n"

    @Test("The content that is in use is the one that was read, also while the file has another already")
    func contents() async throws {
        let world = World("log: {level: info}\n")
        let reloader = try world.reloader()
        await reloader.begin().value
        let first = await reloader.loaded.contents
        #expect(first == Array("log: {level: info}\n".utf8))
        world.write(Self.wrong)
        _ = await reloader.reload(because: "test")
        let refused = await reloader.loaded.contents
        #expect(refused == first, "a refused content is not in use")
        world.write(Self.good)
        _ = await reloader.reload(because: "test")
        let taken = await reloader.loaded.contents
        #expect(taken == Array(Self.good.utf8))
    }

    @Test("A reload that is asked for during the start is made as soon as the gateway serves")
    func postponed() async throws {
        let world = World("log: {level: info}\n")
        let reloader = try world.reloader()
        world.write(Self.good)
        guard case .refused = await reloader.reload(because: "SIGHUP") else {
            Issue.record("a gateway that does not serve has reloaded")
            return
        }
        #expect(await reloader.loaded.configuration.limits.loginPerMinute != 7)
        #expect(await reloader.lastReload == nil && world.log.isEmpty)
        await reloader.begin().value
        #expect(await reloader.loaded.configuration.limits.loginPerMinute == 7)
        #expect(world.log.count == 1 && world.log.allSatisfy { $0.contains("SIGHUP") }, "\(world.log)")
    }

    @Test("Without a reload during the start, nothing is read again when the gateway serves")
    func notPostponed() async throws {
        let world = World(Self.good)
        let reloader = try world.reloader()
        await reloader.begin().value
        #expect(await reloader.lastReload == nil && world.log.isEmpty)
    }

    @Test("What was refused is tried again until it can be used; only a refusal of another text is logged again")
    func retry() async throws {
        let world = World(Self.good)
        let reloader = try world.reloader()
        await reloader.begin().value
        world.write(Self.wrong)
        guard case .refused = await reloader.reload(because: "test") else {
            Issue.record("a wrong configuration was taken over")
            return
        }
        let refusal = await reloader.lastReload
        for _ in 0..<3 { await reloader.retry(because: "test") }
        #expect(world.log.count == 1 && world.reopened.load(ordering: .relaxed) == 1, "\(world.log)")
        #expect(await reloader.lastReload == refusal)
        world.write("limits: {login_per_minut: 7}\n")
        for _ in 0..<3 { await reloader.retry(because: "test") }
        #expect(world.log.count == 2, "\(world.log)")
        world.write("limits: {login_per_minute: 8}\n")
        await reloader.retry(because: "test")
        #expect(await reloader.loaded.configuration.limits.loginPerMinute == 8)
        #expect(await reloader.lastReload?.outcome == .reloaded(needRestart: []))
    }
}
