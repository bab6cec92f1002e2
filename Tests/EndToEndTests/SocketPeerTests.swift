import Foundation
import Testing

/// Clients and upstreams that vanish without a word.
@Suite(.blocking) struct SocketPeerTests {
    /// Seconds from one ping to the next. A client has two of them for its answer, here that is a test on a busy machine.
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
        // Neither reads nor writes any more, and never says goodbye.
        let dead = try (0..<2).map { _ in try gateway.opened("\(path)?\(ada.query)") }
        #expect(try gateway.socket("\(path)?\(ada.query)").answer.status == 429)
        let start = ContinuousClock.now
        for _ in 0..<2 {
            #expect(try alive.next()?.first == 0x89)
            try alive.send(WebSocketProbe.frame(10))
            for probe in dead { #expect(try probe.next()?.first == 0x89) }
        }
        // Two pings, and no Close, which the dead peers would not read.
        for probe in dead { #expect(try probe.next() == nil) }
        let took = start.duration(to: .now)
        // A third ping would have taken a fourth interval.
        #expect(took > .seconds(2 * Self.interval) && took < .seconds(4 * Self.interval), "\(took)")
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
            #expect(try talking.next()?.text == "\(round)")
        }
        let silent = try gateway.opened("/api/runtime/echo?\(ada.query)")
        try silent.send([0x89])
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

/// One row of the kernel's table of TCP connections.
struct TCPConnection: Sendable {
    let localPort: Int
    let remotePort: Int
    /// When the next probe is due; nil when none is.
    let keepAliveSeconds: Int?

    /// Reads `sl local remote st queues timer:when …`; the times are hundredths of a second, all numbers hexadecimal.
    private init?(_ line: Substring) {
        let columns = line.split(separator: " ")
        guard columns.count > 5, columns[3] == "01" else { return nil }
        func port(_ address: Substring) -> Int? { address.split(separator: ":").last.flatMap { Int($0, radix: 16) } }
        let timer = columns[5].split(separator: ":")
        guard let local = port(columns[1]), let remote = port(columns[2]), timer.count == 2 else { return nil }
        localPort = local
        remotePort = remote
        keepAliveSeconds = timer[0] == "02" ? Int(timer[1], radix: 16).map { $0 / 100 } : nil
    }

    /// Those of this machine that are open both ways.
    static func established() throws -> [TCPConnection] {
        // The kernel says of this file that it is empty, so it has to be read until nothing more comes.
        let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/net/tcp"))
        defer { try? file.close() }
        var table = Data()
        while let part = try file.read(upToCount: 65_536), !part.isEmpty { table += part }
        return String(decoding: table, as: UTF8.self).split(separator: "\n").compactMap { Self($0) }
    }
}
