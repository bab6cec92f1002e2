import BasicsForTests
import Foundation
import Testing

/// An upstream that does not serve leaves a line in the log that names it and the cause.
@Suite(.blocking) struct UpstreamLogTests {
    @Test("A refused connection, a missing socket and a late answer are told once each, with distinct reasons")
    func causes() async throws {
        // It says nothing until it is given up.
        let slow = try RecordingUpstream { _, stream in
            _ = try stream.readSome()
            return .close
        }
        defer { slow.stop() }
        let port = try SocketAddressing.unusedPort()
        let path = "/tmp/gh-none-\(UUID().uuidString.prefix(8)).sock"
        let gateway = try await GatewayInProcess.start(
            """
            errors: {explain: true}
            routes:
              - {path: /refused, upstream: "http://127.0.0.1:\(port)", require: none}
              - {path: /missing, upstream: "unix:\(path)", require: none}
              - {path: /late, upstream: "\(slow.url)", require: none, timeout: 300ms}
            """, users: [])
        defer { gateway.stop() }
        let cases = [
            ("/refused", 502, "upstream_refused", "127.0.0.1:\(port)"),
            ("/missing", 502, "upstream_no_socket", "unix:\(path)"),
            ("/late", 504, "upstream_answer_timeout", String(slow.url.dropFirst("http://".count))),
        ]
        for (path, status, reason, place) in cases {
            for _ in 0..<3 {
                let answer = try gateway.request("GET", path)
                expectStatus(answer, status, path)
                #expect(answer.json["reason"] as? String == reason)
            }
            let isTold = try await eventually { gateway.log.contains(reason) }
            #expect(isTold, "\(path)")
            // Each event loop has connections of its own, and all of them one log.
            let lines = gateway.log.split(separator: "\n").filter { $0.contains("reason=\(reason)") }
            #expect(lines.count == 1 && lines[0].contains("upstream=\(place)"), "\(lines)")
            #expect(lines.allSatisfy { $0.contains(" warning ") && $0.contains("cause=") })
        }
    }

    @Test("An upgrade that gets no answer worth the name is told; a refusal that breaks off in the middle is not")
    func upgrades() async throws {
        let upstream = try RecordingUpstream { request, stream in
            try stream.send(
                request.target == "/ws/half"
                    ? "HTTP/1.1 403 No\r\nContent-Length: 9\r\n\r\nhalf" : "this is no HTTP\r\n\r\n")
            return .close
        }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            "routes: [{path: /ws, upstream: \"\(upstream.url)\", require: none, websocket: true}]", users: [])
        defer { gateway.stop() }
        let half = try RawSocket(port: gateway.port)
        let fields = WebSocketProbe.handshake.map { "\($0.0): \($0.1)\r\n" }.joined()
        try half.send("GET /ws/half HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
        let text = String(decoding: try half.readToEnd(), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 403 ") && text.hasSuffix("half"), "\(text)")
        expectStatus(try gateway.socket("/ws/garbage").answer, 502)
        let isTold = try await eventually {
            gateway.log.contains("reason=upstream_answer_malformed")
        }
        #expect(isTold)
        // The lines come in order: the other one would be there by now.
        #expect(!gateway.log.contains("reason=upstream_closed"))
    }
}
