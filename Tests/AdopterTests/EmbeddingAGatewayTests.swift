import DocumentationForTests
import Experience
import Exposition
import Foundation
import InMemoryTracing
import Logging
import ServiceLifecycle
import Testing
import Tracing

/// The article of `Experience`, run as an adopter would.
@Suite("Article: embedding a gateway") struct EmbeddingAGatewayTests {
    private struct NotReady: Error {}

    // snippet
    /// A gateway in front of one service, with everything below `directory`.
    static func makeGateway(
        in directory: String, upstream: String, logger: Logger, onReady: @escaping @Sendable (String) -> Void
    ) async throws -> Gateway {
        var configuration = try GatewayConfiguration(
            listen: "127.0.0.1:0", state: "sqlite:\(directory)/state.sqlite", keys: "\(directory)/keys")
        var orders = RouteConfiguration(path: "/orders")
        orders.upstreams = [upstream]
        orders.require = .tokenAndSession
        orders.scopes = ["orders:read"]
        configuration.routes = [orders]
        configuration.limits.loginPerMinute = 5
        return try await Gateway(
            configuration: configuration, realms: [], logger: logger,
            metrics: PrometheusMetrics(families: Gateway.metricFamilies), onReady: onReady)
    }
    // end

    // snippet
    /// Has all routes forward to another upstream. Requests that have begun go on to the old one.
    ///
    /// - Returns: the configuration that the gateway goes on with, for the next change.
    static func move(
        _ gateway: Gateway, _ configuration: GatewayConfiguration, to upstream: String
    ) async throws -> GatewayConfiguration {
        var next = configuration
        for index in next.routes.indices { next.routes[index].upstreams = [upstream] }
        try await gateway.change(to: next)
        return next
    }
    // end

    // snippet
    /// A gateway whose access log and audit log the program keeps. Both closures are called while requests are handled
    /// and must not wait: they hand over what they are given, to a task that writes for example.
    static func makeLoggedGateway(
        _ configuration: GatewayConfiguration, logger: Logger, access: AsyncStream<[UInt8]>.Continuation,
        audit: AsyncStream<String>.Continuation, onReady: @escaping @Sendable (String) -> Void
    ) async throws -> Gateway {
        try await Gateway(
            configuration: configuration, realms: [], logger: logger,
            audit: { event, members in audit.yield("\(event) \(members.serialized())") },
            onReady: onReady, accessLog: { lines in access.yield(lines) })
    }
    // end

    // snippet
    /// The gateway's spans and the program's own go to one collector. To be run in this order: services are stopped in
    /// reverse, so the tracer sends what the gateway has recorded last.
    static func makeTracedServices(
        _ configuration: GatewayConfiguration, collector: String, logger: Logger,
        onReady: @escaping @Sendable (String) -> Void
    ) async throws -> [any Service] {
        let tracer = OTLPTracer(collector: collector, service: "orders", version: "1.0", logger: logger)
        let gateway = try await Gateway(
            configuration: configuration, realms: [], logger: logger, tracer: tracer, onReady: onReady)
        return [tracer, gateway]
    }
    // end

    @Test("What the article shows serves, guards its route, and ends when it is told to")
    func works() async throws {
        let directory = try Self.makeDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let (origins, told) = AsyncStream<String>.makeStream()
        let gateway = try await Self.makeGateway(
            in: directory.path, upstream: "http://127.0.0.1:9", logger: Logger(label: "test"),
            onReady: { told.yield($0) })
        try await Self.run([gateway], origins) { url in
            let status = try await Self.status(of: url)
            #expect(status == 401)
            await gateway.reload()
        }
    }

    @Test("A configuration is changed while the gateway serves, but not in what only a start reads")
    func changed() async throws {
        let directory = try Self.makeDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let (origins, told) = AsyncStream<String>.makeStream()
        let configuration = try Self.configuration(in: directory.path)
        let gateway = try await Gateway(
            configuration: configuration, realms: [], logger: Logger(label: "test"), onReady: { told.yield($0) })
        try await Self.run([gateway], origins) { url in
            #expect(try await Self.status(of: url) == 404)
            var orders = RouteConfiguration(path: "/orders")
            orders.upstreams = ["http://127.0.0.1:9"]
            var next = configuration
            next.routes = [orders]
            try await gateway.change(to: next)
            // Without a credential; the default asks for one.
            #expect(try await Self.status(of: url) == 401)
            let moved = try await Self.move(gateway, next, to: "http://127.0.0.1:10")
            #expect(moved.routes.map(\.upstreams) == [["http://127.0.0.1:10"]])

            var other = moved
            other.routes = []
            other.tokens.audience = ["others"]
            let wrong = other
            let error = await #expect(throws: ConfigurationError.self) { try await gateway.change(to: wrong) }
            #expect(error?.code == .restartNeeded && error?.key == "tokens.audience")
            #expect(try await Self.status(of: url) == 401)
        }
    }

    @Test("A setting that the gateway would ignore is refused, unless the program does what it says")
    func ignored() async throws {
        let directory = try Self.makeDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let settings: [(key: String, set: (inout GatewayConfiguration) -> Void)] = [
            ("audit.file", { $0.audit.file = "a" }), ("log.access", { $0.log.access = "a" }),
            ("log.format", { $0.log.format = .json }), ("log.level", { $0.log.level = .debug }),
            ("server.watch", { $0.server.watch = true }),
        ]
        for (key, set) in settings {
            var configuration = try Self.configuration(in: directory.path)
            set(&configuration)
            let wrong = configuration
            let error = await #expect(throws: ConfigurationError.self) {
                _ = try await Gateway(configuration: wrong, realms: [], logger: Logger(label: "test"))
            }
            #expect(error?.code == .settingUnread && error?.key == key)
        }
    }

    @Test("A program that takes them gets the lines of the access log and the events of the audit log")
    func logged() async throws {
        let directory = try Self.makeDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let (origins, told) = AsyncStream<String>.makeStream()
        let (lines, access) = AsyncStream<[UInt8]>.makeStream()
        let (events, audit) = AsyncStream<String>.makeStream()
        var configuration = try Self.configuration(in: directory.path)
        configuration.log.access = "access.log"
        configuration.log.level = .debug
        configuration.audit.file = "audit.log"
        var logger = Logger(label: "test")
        logger.logLevel = .debug
        let gateway = try await Self.makeLoggedGateway(
            configuration, logger: logger, access: access, audit: audit, onReady: { told.yield($0) })
        try await Self.run([gateway], origins) { url in
            let status = try await Self.status(of: url)
            #expect(status == 404)
        }
        access.finish()
        audit.finish()
        let text = await lines.reduce(into: "") { $0 += String(decoding: $1, as: UTF8.self) }
        #expect(text.contains(#""path":"/orders""#) && text.hasSuffix("\n"))
        let refused = await events.first { $0.hasPrefix("request.refused ") }
        #expect(refused?.contains("/orders") == true)
    }

    @Test("A tracer that runs beside the gateway ends with it")
    func traced() async throws {
        let directory = try Self.makeDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let (origins, told) = AsyncStream<String>.makeStream()
        let services = try await Self.makeTracedServices(
            try Self.configuration(in: directory.path), collector: "http://127.0.0.1:9",
            logger: Logger(label: "test"), onReady: { told.yield($0) })
        try await Self.run(services, origins) { url in
            let status = try await Self.status(of: url)
            #expect(status == 404)
        }
    }

    @Test("A tracer of the program's own gets the spans, with the ids that the gateway chose")
    func otherTracer() async throws {
        let directory = try Self.makeDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let (origins, told) = AsyncStream<String>.makeStream()
        let tracer = InMemoryTracer()
        var configuration = try Self.configuration(in: directory.path)
        configuration.tracing.ratio = 1
        let gateway = try await Gateway(
            configuration: configuration, realms: [], logger: Logger(label: "test"), tracer: tracer,
            onReady: { told.yield($0) })
        try await Self.run([gateway], origins) { url in
            let status = try await Self.status(of: url)
            #expect(status == 404)
        }
        let span = try #require(tracer.finishedSpans.first)
        #expect(tracer.finishedSpans.count == 1 && span.operationName.hasPrefix("GET ") && span.kind == .server)
        let identity: SpanContext = try #require(span.context.assignedTraceContext)
        #expect(identity.traceID.count == 32 && identity.spanID.count == 16 && identity.parentSpanID == nil)
    }

    private static func configuration(in directory: String) throws -> GatewayConfiguration {
        try GatewayConfiguration(
            listen: "127.0.0.1:0", state: "sqlite:\(directory)/state.sqlite", keys: "\(directory)/keys")
    }

    private static func makeDirectory() throws -> URL {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("adopter-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return directory
    }

    /// Runs services until `body` is done with `/orders` of the gateway among them.
    private static func run(
        _ services: [any Service], _ origins: AsyncStream<String>, _ body: @Sendable (URL) async throws -> Void
    ) async throws {
        let group = ServiceGroup(services: services, gracefulShutdownSignals: [], logger: Logger(label: "test"))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            guard let origin = await origins.first(where: { _ in true }), let url = URL(string: origin + "/orders")
            else { throw NotReady() }
            try await body(url)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    @Test("The article shows exactly what is run here")
    func page() throws {
        let shown = try DocumentedCode.shown(in: "Sources/Experience/Experience.docc/EmbeddingAGateway.md")
        #expect(try !shown.isEmpty && shown == DocumentedCode.run(in: #filePath))
    }

    /// The status that `curl`, which is not of this process, is answered with.
    private static func status(of url: URL) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", url.absoluteString]
            let output = Pipe()
            process.standardOutput = output
            process.terminationHandler = { _ in
                let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                continuation.resume(returning: Int(text) ?? 0)
            }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
    }
}
