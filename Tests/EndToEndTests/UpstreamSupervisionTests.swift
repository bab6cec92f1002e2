import BasicsForTests
import Foundation
import Synchronization
import Testing

/// Upstreams that are checked, left alone, spared and given up by the gateway. Two event loops, as in real life.
@Suite(.blocking) struct UpstreamSupervisionTests {
    private final class Mood: Sendable {
        let fails = Atomic<Bool>(false)
    }

    /// An upstream whose answers the test changes.
    private final class Moody: Sendable {
        private let mood: Mood
        let upstream: RecordingUpstream

        init() throws {
            let mood = Mood()
            self.mood = mood
            upstream = try RecordingUpstream { _, stream in
                try stream.send(
                    mood.fails.load(ordering: .relaxed)
                        ? "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno" : RecordingUpstream.plainAnswer)
                return .keep
            }
        }

        var fails: Bool {
            get { mood.fails.load(ordering: .relaxed) }
            set { mood.fails.store(newValue, ordering: .relaxed) }
        }

        /// How many requests came that were no checks.
        var served: Int { upstream.requests.filter { $0.target != "/healthz?deep" }.count }
        var checks: Int { upstream.requests.filter { $0.target == "/healthz?deep" }.count }
    }

    private static func start(_ keys: String, _ urls: [String], _ more: String = "") async throws -> GatewayInProcess {
        let list = urls.map { "\"\($0)\"" }.joined(separator: ", ")
        return try await GatewayInProcess.start(
            """
            server: {threads: 2}
            errors: {explain: true}
            routes:
              - {path: /, upstream: [\(list)], require: none, websocket: true, \(keys)}
            \(more)
            """, users: [])
    }

    @Test("An upstream that fails its checks is not used until it passes them again")
    func health() async throws {
        let (sick, well) = (try Moody(), try Moody())
        // The checks of an upstream that answers may take long: a machine that stands still makes no upstream sick.
        let checks = "interval: 100ms, timeout: 30s, healthy_after: 2, unhealthy_after: 2, status: [200-299]"
        let gateway = try await GatewayInProcess.start(
            """
            server: {threads: 2}
            routes:
              - path: /
                upstream: [\(sick.upstream.url), \(well.upstream.url)]
                require: none
                health: {path: "/healthz?deep", \(checks)}
            """, users: [], environment: ["GATEHOUSE_SERVER_ADMIN": "127.0.0.1:0"])
        defer { gateway.stop() }
        let admin = try #require(gateway.adminPort)
        func isUp() throws -> Bool {
            let socket = try RawSocket(port: admin)
            try socket.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return try socket.response().text.contains(
                #"gatehouse_upstream_up{route="/",upstream="127.0.0.1:\#(sick.upstream.port)"} 1"#)
        }
        #expect(try await eventually { sick.checks > 0 && well.checks > 0 })
        let check = sick.upstream.requests.first { $0.target == "/healthz?deep" }
        #expect(check?.method == "GET" && check?["host"] == "127.0.0.1:\(sick.upstream.port)")
        #expect(try isUp())
        sick.fails = true
        #expect(try await eventually { try !isUp() })
        let before = sick.served
        for _ in 0..<20 { #expect(try gateway.request("GET", "/").text == "ok") }
        #expect(sick.served == before)
        sick.fails = false
        #expect(try await eventually { try isUp() })
        for _ in 0..<20 { #expect(try gateway.request("GET", "/").text == "ok") }
        #expect(sick.served > before)
    }

    @Test("A check takes no request's connection, however long it takes")
    func checksTakeNoPlace() async throws {
        let gate = DispatchSemaphore(value: 0)
        let upstream = try RecordingUpstream { request, stream in
            if request.target == "/healthz" { _ = gate.wait(timeout: .now() + 20) }
            try stream.send(RecordingUpstream.plainAnswer)
            return .keep
        }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            """
            server: {threads: 1}
            routes:
              - path: /
                upstream: \(upstream.url)
                require: none
                max_connections: 1
                health: {path: /healthz, interval: 100ms, timeout: 15s}
            """, users: [])
        defer { gateway.stop() }
        defer { for _ in 0..<100 { gate.signal() } }
        #expect(try await eventually { upstream.requests.contains { $0.target == "/healthz" } })
        for _ in 0..<5 { #expect(try gateway.request("GET", "/").status == 200) }
    }

    @Test("An upstream that fails requests in a row is left alone, on all event loops and over a reload")
    func ejection() async throws {
        let (sick, well) = (try Moody(), try Moody())
        sick.fails = true
        let keys = "outlier: {failures: 3, eject: 5m}"
        let gateway = try await Self.start(keys, [sick.upstream.url, well.upstream.url])
        defer { gateway.stop() }
        var failures = 0
        for _ in 0..<40 where try gateway.request("GET", "/").status == 500 { failures += 1 }
        #expect(failures == 3 && sick.served == 3)
        // A relayed upgrade makes the same choice.
        for _ in 0..<4 { #expect(try WebSocketProbe(gateway, "/ws").answer.status == 200) }
        #expect(sick.served == 3)
        try await gateway.change(
            to: """
                server: {threads: 2}
                routes:
                  - {path: /, upstream: ["\(sick.upstream.url)", "\(well.upstream.url)"], require: none, \(keys)}
                  - {path: /new, upstream: "\(well.upstream.url)", require: none}
                """)
        for _ in 0..<20 { #expect(try gateway.request("GET", "/").status == 200) }
        #expect(sick.served == 3)
    }

    @Test("Connections that fail count as well, and the last upstream is never left alone")
    func lastOne() async throws {
        let dead = "http://127.0.0.1:\(try SocketAddressing.unusedPort())"
        let sick = try Moody()
        sick.fails = true
        let gateway = try await Self.start("outlier: {failures: 1, eject: 5m}", [dead, sick.upstream.url])
        defer { gateway.stop() }
        for _ in 0..<10 { #expect(try gateway.request("GET", "/").status == 500, "it answers, if only so") }
        #expect(sick.served == 10)
    }

    @Test("Beyond max_requests the answer is 503 until one is done; a socket counts for as long as it is open")
    func maxRequests() async throws {
        let gate = DispatchSemaphore(value: 0)
        let upstream = try RecordingUpstream { request, stream in
            if request["upgrade"] != nil {
                try stream.send(RecordingUpstream.upgradeAnswer)
                while case let bytes = try stream.readSome(), !bytes.isEmpty {}
                return .close
            }
            if request.target == "/slow" { _ = gate.wait(timeout: .now() + 20) }
            try stream.send(RecordingUpstream.plainAnswer)
            return .keep
        }
        defer { upstream.stop() }
        let gateway = try await Self.start("max_requests: 2", [upstream.url])
        defer { gateway.stop() }
        let first = try RawSocket(port: gateway.port)
        try first.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try await eventually { upstream.requests.count == 1 })
        var socket: WebSocketProbe? = try WebSocketProbe(gateway, "/ws")
        #expect(socket?.isOpen == true)
        for answer in [try gateway.request("GET", "/"), try WebSocketProbe(gateway, "/ws").answer] {
            expectRefused(answer, 503, "overloaded")
            #expect(answer["retry-after"] == "1" && answer.json["reason"] as? String == "upstream_full")
        }
        gate.signal()
        #expect(try first.response().text == "ok")
        // The socket is still open, so there is one place. It was freed before the same connection's next request is
        // read; a request on another loop might still find it taken, or itself take it a moment too long.
        try first.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try await eventually { upstream.requests.count { $0.target == "/slow" } == 2 })
        expectRefused(try gateway.request("GET", "/"), 503, "overloaded")
        socket = nil
        #expect(try await eventually { try gateway.request("GET", "/").status == 200 })
        gate.signal()
        #expect(try first.response().text == "ok")
    }

    @Test("max_connections bounds connections; idle ones make room")
    func maxConnections() async throws {
        let gate = DispatchSemaphore(value: 0)
        let upstream = try RecordingUpstream { request, stream in
            if request.target == "/slow" { _ = gate.wait(timeout: .now() + 20) }
            try stream.send(RecordingUpstream.plainAnswer)
            return .keep
        }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            """
            routes:
              - {path: /, upstream: "\(upstream.url)", require: none, websocket: true, max_connections: 1}
            """, users: [])
        defer { gateway.stop() }
        #expect(try gateway.request("GET", "/").status == 200)
        // An upgrade never uses an idle connection: that is closed for it.
        #expect(try WebSocketProbe(gateway, "/ws").answer.status == 200)
        let first = try RawSocket(port: gateway.port)
        try first.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try await eventually { upstream.requests.contains { $0.target == "/slow" } })
        expectRefused(try gateway.request("GET", "/"), 503, "overloaded")
        gate.signal()
        #expect(try first.response().text == "ok")
    }

    @Test("Without a budget for retries an unreachable upstream is not passed over")
    func retries() async throws {
        let dead = "http://127.0.0.1:\(try SocketAddressing.unusedPort())"
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let spends = try await Self.start("retry: {budget: 1, floor: 10}", [dead, upstream.url])
        defer { spends.stop() }
        for _ in 0..<4 { #expect(try spends.request("GET", "/").status == 200) }
        let saves = try await Self.start("retry: {budget: 0, floor: 0}", [dead, upstream.url])
        defer { saves.stop() }
        let statuses = try (0..<4).map { _ in try saves.request("GET", "/").status }
        #expect(Set(statuses) == [200, 502], "\(statuses)")
    }
}
