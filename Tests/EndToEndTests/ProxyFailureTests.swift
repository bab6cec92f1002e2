import BasicsForTests
import Foundation
import Synchronization
import Testing

/// Upstreams that are gone, late, broken or hostile: the client can always tell, and no other client is affected.
@Suite(.blocking) struct ProxyFailureTests {
    /// What the next request is answered with; nothing stands for the usual "ok".
    private final class Stage: Sendable {
        private let bytes = Mutex<(answer: String, after: RecordingUpstream.After)?>(nil)
        func next(_ answer: String, _ after: RecordingUpstream.After) { bytes.withLock { $0 = (answer, after) } }
        func clear() { bytes.withLock { $0 = nil } }
        var current: (answer: String, after: RecordingUpstream.After)? { bytes.withLock { $0 } }
    }

    private static func staged(_ stage: Stage) throws -> RecordingUpstream {
        try RecordingUpstream { _, stream in
            guard let current = stage.current else {
                try stream.send(RecordingUpstream.plainAnswer)
                return .keep
            }
            try stream.send(current.answer)
            return current.after
        }
    }

    @Test("An unreachable upstream is 502, a late one 504, a dead one of several is passed over")
    func unreachable() async throws {
        // It says nothing until it is given up.
        let slow = try RecordingUpstream { _, stream in
            _ = try stream.readSome()
            return .close
        }
        let upstream = try RecordingUpstream()
        let socketPath = "/tmp/gh-\(UUID().uuidString.prefix(8)).sock"
        let unix = try RecordingUpstream(unixPath: socketPath)
        defer {
            for server in [slow, upstream, unix] { server.stop() }
            try? FileManager.default.removeItem(atPath: socketPath)
        }
        let dead = "http://127.0.0.1:\(try SocketAddressing.unusedPort())"
        let gateway = try await GatewayInProcess.start(
            """
            routes:
              - {path: /dead, upstream: "\(dead)", require: none}
              - {path: /nosocket, upstream: "unix:/tmp/gh-nobody.sock", require: none}
              - {path: /late, upstream: "\(slow.url)", require: none, timeout: 300ms}
              - {path: /some, upstream: ["\(dead)", "\(upstream.url)"], require: none}
              - {path: /unix, upstream: "\(unix.url)", require: none}
            """, users: [])
        defer { gateway.stop() }
        for path in ["/dead", "/nosocket"] {
            let answer = try gateway.request("GET", path)
            #expect(answer.status == 502 && answer.code == "upstream_unavailable", "\(path)")
        }
        let late = try gateway.request("GET", "/late")
        #expect(late.status == 504 && late.code == "upstream_timeout")
        for _ in 0..<4 {
            #expect(try gateway.request("GET", "/some").status == 200)
            #expect(try gateway.request("POST", "/some", body: "abc").status == 200)
        }
        #expect(try gateway.request("GET", "/unix").text == "ok")
    }

    @Test("An answer that breaks off is seen to break off, and its connection is never used again")
    func truncated() async throws {
        let stage = Stage()
        let upstream = try Self.staged(stage)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            "routes: [{path: /, upstream: \(upstream.url), require: none}]", users: [])
        defer { gateway.stop() }
        let broken: [(String, RecordingUpstream.After)] = [
            ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", .close),
            ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", .reset),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", .close),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", .close),
        ]
        for (answer, after) in broken {
            stage.next(answer, after)
            // A reset may overtake what was sent before it: then there was no answer at all.
            let seen = try? gateway.raw("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(seen == nil || (after == .reset && seen?.status == 502), "\(answer.debugDescription)")
            stage.clear()
            #expect(try gateway.raw("GET / HTTP/1.1\r\nHost: h\r\n\r\n").text == "ok")
        }
        // What has no other end than the connection's is whole when that ends in order.
        stage.next("HTTP/1.1 200 OK\r\n\r\nhello", .close)
        #expect(try gateway.raw("GET / HTTP/1.1\r\nHost: h\r\n\r\n").text == "hello")
        stage.next("HTTP/1.0 200 OK\r\n\r\nhello", .close)
        #expect(try gateway.raw("GET / HTTP/1.1\r\nHost: h\r\n\r\n").text == "hello")
    }

    @Test("An answer that is no sound HTTP is 502, and bytes behind an answer never meet the next client")
    func malformed() async throws {
        let stage = Stage()
        let upstream = try Self.staged(stage)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            "routes: [{path: /, upstream: \(upstream.url), require: none}]", users: [])
        defer { gateway.stop() }
        let interim = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 200)
        for answer in [
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "hello\r\n\r\n",
            "HTTP/2 200 OK\r\n\r\n", "",
            "HTTP/1.1 200 OK\r\nConte", "HTTP/1.1 200 OK\r\nA: b\0c\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA: b\rc\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
            "HTTP/1.1 200 OK\r\nA: \(String(repeating: "b", count: 100_000))\r\n\r\n",
            "HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
            interim + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        ] {
            stage.next(answer, .close)
            let seen = try gateway.raw("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na")
            #expect(
                seen.status == 502 && seen.code == "upstream_unavailable",
                "\(answer.prefix(60).debugDescription): \(seen.status)")
            stage.clear()
            #expect(
                try gateway.raw("GET / HTTP/1.1\r\nHost: h\r\n\r\n").text == "ok",
                "after \(answer.prefix(60).debugDescription)")
        }
        let stray = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"
        for answer in [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + stray, "HTTP/1.1 204 No Content\r\n\r\n" + stray,
            "HTTP/1.1 304 Not Modified\r\n\r\n" + stray,
        ] {
            stage.next(answer, .keep)
            #expect(try [200, 204, 304].contains(gateway.raw("GET / HTTP/1.1\r\nHost: h\r\n\r\n").status))
            stage.clear()
            #expect(try gateway.raw("GET / HTTP/1.1\r\nHost: h\r\n\r\n").text == "ok")
        }
    }

    @Test("A kept connection that the upstream closed is replaced; a request is repeated only if that is safe")
    func repeatedRequests() async throws {
        let served = Mutex<[Int: Int]>([:])
        let upstream = try RecordingUpstream { request, stream in
            let count = served.withLock { counts in
                counts[request.connection, default: 0] += 1
                return counts[request.connection] ?? 0
            }
            // The second request of a connection finds it closing.
            if count == 2 { return .close }
            try stream.send(RecordingUpstream.plainAnswer)
            return .keep
        }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            "server: {threads: 1}\nroutes: [{path: /, upstream: \(upstream.url), require: none}]", users: [])
        defer { gateway.stop() }
        #expect(try gateway.request("GET", "/a").status == 200)
        #expect(try gateway.request("GET", "/again").status == 200)
        #expect(upstream.requests.filter { $0.target == "/again" }.count == 2)
        // A connection that was idle for a second, on a machine that stands still, is none that a POST uses: then this
        // one is answered, and the next one finds its connection closing.
        var posts = 0
        let isRefused = try await eventually {
            posts += 1
            return try gateway.request("POST", "/once", body: "abc").status == 502
        }
        #expect(isRefused && upstream.requests.filter { $0.target == "/once" }.count == posts)
        #expect(try gateway.request("GET", "/b").status == 200)
        upstream.cutConnections()
        #expect(try await eventually { upstream.openConnections == 0 })
        #expect(try gateway.request("POST", "/fresh", body: "abc").status == 200)
    }

    @Test("An upstream that never answers is asked twice at most")
    func boundedRepeats() async throws {
        let upstream = try RecordingUpstream { _, _ in .close }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            "routes: [{path: /, upstream: \(upstream.url), require: none}]", users: [])
        defer { gateway.stop() }
        #expect(try gateway.request("GET", "/").status == 502 && upstream.requests.count <= 2)
    }

    @Test("An early answer reaches a client that is still sending")
    func earlyAnswer() async throws {
        let upstream = try RecordingUpstream(readsBody: false) { _, stream in
            try stream.send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
            return .close
        }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            "routes: [{path: /, upstream: \(upstream.url), require: none}]", users: [])
        defer { gateway.stop() }
        let socket = try RawSocket(port: gateway.port)
        try socket.send(
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000\r\n\r\n" + String(repeating: "a", count: 1000))
        let answer = try socket.response()
        #expect(answer.status == 413 && answer.text == "big")
    }

    @Test("A client that vanishes within its body takes the upstream request with it")
    func vanishedClient() async throws {
        let received = Mutex<Int?>(nil)
        let upstream = try RecordingUpstream(readsBody: false) { request, stream in
            if request.method == "GET" {
                try stream.send(RecordingUpstream.plainAnswer)
                return .keep
            }
            let count = try stream.drain()
            received.withLock { $0 = count }
            return .close
        }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            "routes: [{path: /, upstream: \(upstream.url), require: none}]", users: [])
        defer { gateway.stop() }
        do {
            let socket = try RawSocket(port: gateway.port)
            try socket.send(
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n" + String(repeating: "a", count: 1000))
            #expect(try await eventually { !upstream.requests.isEmpty })
        }
        #expect(try await eventually { received.withLock { $0 } == 1000 })
        #expect(try gateway.request("GET", "/").status == 200)
    }
}
