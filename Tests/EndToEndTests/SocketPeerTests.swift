import BasicsForTests
import Foundation
import Testing

/// Clients and upstreams that vanish without a word.
@Suite(.blocking) struct SocketPeerTests {
    /// Seconds from one ping to the next. A client has two of them for its answer, here that is a test on a busy
    /// machine.
    private static let interval = 3

    @Test(
        "A client that answers no ping is gone within three intervals, its descriptor too; one that does stays",
        arguments: ["/api/runtime/agent", "/api/runtime/echo"])
    func pings(path: String) async throws {
        let gateway = try await GatewayProcess.start(
            "websocket:\n  ping: \(Self.interval)s\nlimits:\n  sockets_per_session: 3")
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let alive = try gateway.opened("\(path)?\(ada.query)")
        let before = try gateway.descriptors()
        let start = ContinuousClock.now
        // Neither reads nor writes any more, and never closes.
        let dead = try (0..<2).map { _ in try gateway.opened("\(path)?\(ada.query)") }
        #expect(try gateway.socket("\(path)?\(ada.query)").answer.status == 429)
        for _ in 0..<2 {
            #expect(try alive.next()?.first == 0x89)
            try alive.send(WebSocketProbe.frame(10))
            for probe in dead { #expect(try probe.next()?.first == 0x89) }
        }
        // Two pings, and no Close, which the dead peers would not read.
        for probe in dead { #expect(try probe.next() == nil) }
        let took = start.duration(to: .now)
        let longest = Duration.seconds(3 * Self.interval) + .promptly
        #expect(took > .seconds(2 * Self.interval) && took < longest, "\(took)")
        #expect(try await eventually { try gateway.descriptors() <= before })
        // Their places are free again; the one that answered keeps its own.
        let next = try (0..<2).map { _ in try gateway.opened("\(path)?\(ada.query)") }
        #expect(next.count == 2)
        #expect(try alive.next()?.first == 0x89)
        try alive.send(WebSocketProbe.frame(10) + WebSocketProbe.close(1000))
        #expect(try alive.closing() == "1000 ")
    }

    @Test("Bytes of any kind are a sign of life, but half a ping is one only once")
    func otherBytes() async throws {
        let gateway = try await GatewayInProcess.start("websocket:\n  ping: \(Self.interval)s")
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let talking = try gateway.opened("/api/runtime/echo?\(ada.query)")
        for round in 0..<4 {
            #expect(try talking.next()?.first == 0x89)
            try talking.send(text: "\(round)")
            // On a machine that stands still the next ping may come before it.
            #expect(try talking.message()?.text == "\(round)")
        }
        // In the packet of the request, so that no ping has come before it.
        let silent = try gateway.socket("/api/runtime/echo?\(ada.query)", extra: [0x89])
        #expect(silent.isOpen)
        #expect(try silent.next()?.first == 0x89 && silent.next()?.first == 0x89 && silent.next() == nil)
    }

    /// A relay puts no frame of its own into the stream, so the kernel has to ask.
    @Test("Both connections of a relayed socket are probed by TCP within half a minute")
    func keepAlive() async throws {
        let upstream = try RecordingUpstream(script: RecordingUpstream.mirror)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            "routes:\n  - {path: /ws, upstream: '\(upstream.url)', require: token+session, websocket: true}")
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let relayed = try gateway.opened("/ws?\(ada.query)")
        func probes(_ rows: [TCPConnection]) -> [Int?] { rows.map(\.keepAliveSeconds) }
        let ends: [(Int, KeyPath<TCPConnection, Int>)] = [(gateway.port, \.localPort), (upstream.port, \.remotePort)]
        for (port, end) in ends {
            #expect(
                try await eventually {
                    let found = probes(try TCPConnection.established().filter { $0[keyPath: end] == port })
                    return found.count == 1 && found.allSatisfy { ($0 ?? .max) <= 30 }
                }, "port \(port)")
        }
        // And it is still a tunnel; its upstream's end reaches the client.
        upstream.cutConnections()
        #expect(try relayed.next() == nil)
    }
}
