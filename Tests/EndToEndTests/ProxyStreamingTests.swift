import Foundation
import Synchronization
import Testing

/// Bodies on their way through the gateway: streamed, bounded in memory, framed anew.
@Suite(.blocking) struct ProxyStreamingTests {
    private static let mebibyte = [UInt8](repeating: 0x7a, count: 1 << 20)

    private func residentBytes(_ gateway: GatewayProcess) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(gateway.processID)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return (line.split(separator: " ").compactMap { Int($0) }.first ?? 0) * 1024
    }

    private func route(_ upstream: RecordingUpstream, _ more: String = "") -> String {
        "server: {threads: 1}\nroutes: [{path: /, upstream: \"\(upstream.url)\", require: none\(more)}]"
    }

    @Test("A large upload and a large download pass in bounded memory")
    func boundedMemory() async throws {
        let size = 192
        let upstream = try RecordingUpstream(readsBody: false) { request, stream in
            if request.method == "GET" {
                try stream.send("HTTP/1.1 200 OK\r\nContent-Length: \(size << 20)\r\n\r\n")
                for _ in 0..<size { try stream.send(Self.mebibyte) }
            } else {
                var count = 0
                while count < size << 20 {
                    let part = try stream.readSome()
                    if part.isEmpty { return .close }
                    count += part.count
                }
                try stream.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
            return .keep
        }
        defer { upstream.stop() }
        let gateway = try await GatewayProcess.start(route(upstream), users: [])
        defer { gateway.stop() }
        func upload(_ count: Int) throws -> Int {
            let socket = try RawSocket(port: gateway.port)
            try socket.send("POST /up HTTP/1.1\r\nHost: h\r\nContent-Length: \(count << 20)\r\n\r\n")
            for _ in 0..<count { try socket.send(Self.mebibyte) }
            return try socket.response().status
        }
        let before = residentBytes(gateway)
        #expect(try upload(size) == 200)
        let afterUpload = residentBytes(gateway)
        let socket = try RawSocket(port: gateway.port)
        try socket.send("GET /down HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        var count = 0
        while true {
            let part = try socket.readToEnd(limit: 1 << 20).count
            if part == 0 { break }
            count += part
        }
        let after = residentBytes(gateway)
        #expect(count > size << 20 && count < (size << 20) + 1024)
        #expect(max(after, afterUpload) - before <= 8 << 20, "grew by \((max(after, afterUpload) - before) >> 10) KiB")
    }

    @Test("A client that reads slowly slows the upstream down, and gets the whole answer all the same")
    func slowReader() async throws {
        let size = 24 << 20
        let sent = Mutex(0)
        let upstream = try RecordingUpstream { request, stream in
            guard request.target == "/" else {
                try stream.send(RecordingUpstream.plainAnswer)
                return .keep
            }
            try stream.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\nConnection: close\r\n\r\n")
            let part = Self.mebibyte[..<(1 << 16)]
            for _ in 0..<(size / part.count) {
                try stream.send(Array(part))
                sent.withLock { $0 += part.count }
            }
            return .close
        }
        defer { upstream.stop() }
        let gateway = try await GatewayProcess.start(route(upstream), users: [])
        defer { gateway.stop() }
        let before = residentBytes(gateway)
        let socket = try RawSocket(port: gateway.port)
        try socket.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        // The client does not read: what the gateway takes meanwhile must stay small. It has taken all that it will
        // when its one loop has served others many times, and the upstream has got rid of nothing more.
        var seen = -1
        while case let now = sent.withLock({ $0 }), now != seen {
            seen = now
            for _ in 0..<50 { #expect(try gateway.request("GET", "/other").text == "ok") }
        }
        #expect(residentBytes(gateway) - before <= 16 << 20)
        let answer = try socket.response()
        #expect(answer.status == 200 && answer.body.count == size)
    }

    @Test("Chunks are framed anew, trailers dropped, interim answers passed on")
    func framing() async throws {
        let upstream = try RecordingUpstream { request, stream in
            if request.target == "/interim" {
                try stream.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
            }
            try stream.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n5;x=y\r\nhello\r\n0\r\nX-T: 1\r\n\r\n"
            )
            return .keep
        }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(route(upstream), users: [])
        defer { gateway.stop() }
        let answer = try gateway.raw("GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(answer.text == "hello" && answer["trailer"] == nil && answer["transfer-encoding"] == "chunked")
        let old = try RawSocket(port: gateway.port)
        try old.send("GET /x HTTP/1.0\r\nHost: h\r\n\r\n")
        let plain = try old.response()
        #expect(plain.text == "hello" && plain["transfer-encoding"] == nil)
        let socket = try RawSocket(port: gateway.port)
        try socket.send("GET /interim HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        let bytes = String(decoding: try socket.readToEnd(), as: UTF8.self)
        #expect(bytes.hasPrefix("HTTP/1.1 103 ") && bytes.contains("\r\n\r\nHTTP/1.1 200 "))
        // A body that comes in chunks goes on in chunks, one with a length goes on with it.
        _ = try gateway.raw(
            "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: CHUNKED\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n")
        #expect(upstream.requests.last.map { String(decoding: $0.rawBody, as: UTF8.self) } == "3\r\nabc\r\n0\r\n\r\n")
        _ = try gateway.raw("POST /l HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")
        #expect(upstream.requests.last?["content-length"] == "3" && upstream.requests.last?["transfer-encoding"] == nil)
    }

    @Test("HEAD, 204 and 304 have no body and leave the connections in order")
    func bodiless() async throws {
        let upstream = try RecordingUpstream { request, stream in
            switch request.target {
            case "/204":
                let length = request.method == "HEAD" ? "Content-Length: 9\r\n" : ""
                try stream.send("HTTP/1.1 204 No Content\r\n\(length)\r\n")
            case "/304": try stream.send("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 9\r\n\r\n")
            default: try stream.send("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n")
            }
            return .keep
        }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(route(upstream), users: [])
        defer { gateway.stop() }
        let socket = try RawSocket(port: gateway.port)
        for _ in 0..<3 {
            try socket.send("HEAD /head HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try socket.response(toHead: true)["content-length"] == "1234")
            try socket.send("GET /204 HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try socket.response()["content-length"] == nil)
            try socket.send("HEAD /204 HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try socket.response(toHead: true)["content-length"] == nil)
            try socket.send("GET /304 HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try socket.response().status == 304)
        }
        // Those to HEAD and 304 say a length: a body may come late, so their connections are not used again.
        #expect(upstream.connectionCount == 9)
    }

    @Test("Pipelined requests are answered in order, over one upstream connection")
    func pipelining() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(route(upstream), users: [])
        defer { gateway.stop() }
        let socket = try RawSocket(port: gateway.port)
        // A POST would use no connection that was idle for a second, as on a machine that stands still.
        let requests = (0..<20).map { "PUT /p\($0) HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc" }
        try socket.send(requests.joined())
        for _ in requests { #expect(try socket.response().text == "ok") }
        #expect(upstream.requests.map(\.target) == (0..<20).map { "/p\($0)" } && upstream.connectionCount == 1)
    }

    @Test("Expect: 100-continue is the upstream's to answer; a refusal instead of it closes the connection")
    func expectations() async throws {
        let upstream = try RecordingUpstream(readsBody: false) { request, stream in
            switch request.target {
            case "/yes":
                try stream.send("HTTP/1.1 100 Continue\r\n\r\n")
                _ = try stream.read(3)
                try stream.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                return .keep
            case "/hints": try stream.send("HTTP/1.1 103 Early Hints\r\n\r\n")
            default: break
            }
            try stream.send("HTTP/1.1 417 No\r\nContent-Length: 2\r\n\r\nno")
            return .close
        }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(route(upstream), users: [])
        defer { gateway.stop() }
        func head(_ path: String) -> String {
            "POST \(path) HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
        }
        let socket = try RawSocket(port: gateway.port)
        try socket.send(head("/yes"))
        #expect(String(decoding: try socket.read(25), as: UTF8.self) == "HTTP/1.1 100 Continue\r\n\r\n")
        try socket.send("abc")
        #expect(try socket.response().status == 200)
        // Whether the body will follow is unknown now, so nothing behind it may be taken for a request.
        for path in ["/no", "/hints"] {
            let refused = try RawSocket(port: gateway.port)
            try refused.send(head(path))
            let answer = try refused.response()
            #expect(try answer.status == 417 && answer["connection"] == "close" && refused.isClosedByPeer(), "\(path)")
        }
    }
}
