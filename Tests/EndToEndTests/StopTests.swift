import EdgeConfiguration
import Experience
import Foundation
import GatewayForTests
import Logging
import Testing

@testable import gatehouse

/// How long a stop may take.
@Suite(.blocking) struct StopTests {
    @Test("The program gives the gateway as long as server.drain may be after any reload")
    func longest() {
        #expect(Composition.longestStop > .milliseconds(ConfigurationBounds.drain.upperBound))
    }

    @Test("A gateway whose task is cancelled waits for no request, however long server.drain is")
    func cancelled() async throws {
        let folder = try GatewayProcess.makeDirectory()
        var configuration = GatewayForTests.configuration(in: folder)
        configuration.server.drain = 120_000
        let (origins, told) = AsyncStream<String>.makeStream()
        let gateway = try await Gateway(
            configuration: configuration, realms: [],
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), onReady: { told.yield($0) })
        let serving = Task { try await gateway.run() }
        let origin = await origins.first { _ in true }
        let port = try #require(origin?.split(separator: ":").last.flatMap { Int($0) })
        // A request without its body keeps the gateway draining for as long as it may.
        let held = try RawSocket(port: port)
        try held.send("POST /api/session HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n")
        let other = try RawSocket(port: port)
        try other.send("GET /.well-known/jwks.json HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(try other.response().status == 200)
        let began = ContinuousClock.now
        serving.cancel()
        try await serving.value
        #expect(began.duration(to: .now) < .promptly)
        withExtendedLifetime(held) {}
    }
}
