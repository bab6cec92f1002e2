import DocumentationForTests
import Experience
import Exposition
import Foundation
import Logging
import ServiceLifecycle
import Testing

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

    @Test("What the article shows serves, guards its route, and ends when it is told to")
    func works() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("adopter-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (origins, told) = AsyncStream<String>.makeStream()
        let gateway = try await Self.makeGateway(
            in: directory.path, upstream: "http://127.0.0.1:9", logger: Logger(label: "test"),
            onReady: { told.yield($0) })
        let group = ServiceGroup(
            services: [gateway], gracefulShutdownSignals: [], logger: Logger(label: "test"))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            guard let origin = await origins.first(where: { _ in true }), let url = URL(string: origin + "/orders")
            else { throw NotReady() }
            #expect(try await Self.status(of: url) == 401)
            await gateway.reload()
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
