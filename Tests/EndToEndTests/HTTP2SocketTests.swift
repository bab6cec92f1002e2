import Foundation
import Testing

/// WebSockets and streams over HTTP/2 (RFC 8441), as Python's `h2` sees them.
@Suite(.enabled(if: HTTP2Script.canRun, "needs python3 with h2, and openssl"), .blocking)
struct HTTP2SocketTests {
    @Test("Extended CONNECT opens the same sockets behind the same checks, and leases end them in order")
    func sockets() async throws {
        let place = try GatewayProcess.makeDirectory()
        let tls = try HTTP2Script.tls(in: place)
        let upstream = try RecordingUpstream { _, stream in
            try stream.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            try stream.send("9\r\ndata: x\n\n\r\n")
            _ = try stream.readSome()
            return .close
        }
        defer { upstream.stop() }
        // Logins go over plain http: both gateways share state and keys.
        let plain = try await GatewayInProcess.start("tokens:\n  issuer: https://localhost", directory: place)
        let ada = try plain.login(.ada)
        plain.stop()
        let gateway = try await GatewayInProcess.start(
            """
            tokens:
              issuer: https://localhost
            \(tls)
            routes:
              - path: /events
                upstream: \(upstream.url)
                require: token
            """, users: [], directory: place)
        defer { gateway.stop() }
        let found = try HTTP2Script.run("http2_sockets", gateway, [ada.token, ada.sessionID, "/events"])
        func said(_ name: String) -> String { found[name].map { "\($0)" } ?? "nothing" }

        let refusals: [(String, [Any])] = [
            ("none", [401, "credentials_missing"]), ("foreign", [403, "session_mismatch"]),
            ("origin", [403, "origin_refused"]), ("version", [426, "upgrade_required"]),
            ("no_version", [426, "upgrade_required"]),
            ("plain_get", [426, "upgrade_required"]),
        ]
        for (name, expected) in refusals {
            let seen = found[name] as? [Any] ?? []
            #expect(
                seen.first as? Int == expected[0] as? Int && seen[safe: 1] as? String == expected[1] as? String,
                "\(name)")
            #expect(seen[safe: 2] as? Bool == false, "\(name): no connection field")
        }
        #expect((found["other_protocol"] as? [Any])?.first as? Int == 400)
        #expect((found["connection_field"] as? [Any])?.first as? Int == 0, "a stream error")
        let opened = found["echo_status"] as? [Any] ?? []
        #expect(
            opened.first as? Int == 200 && opened[safe: 1] as? String == "gatehouse.v1" && opened[safe: 2] is NSNull)
        #expect(found["echo"] as? String == "over http/2" && found["echo_large"] as? Bool == true)
        let closed = found["echo_close"] as? [Any] ?? []
        #expect(closed[safe: 1] as? Int == 1000 && closed[safe: 3] as? String == "StreamEnded", "\(closed)")
        #expect(found["agent_status"] as? Int == 200 && found["ready"] as? String == "ready")
        #expect((found["event"] as? [String: Any])?["over"] as? Int == 2)
        #expect(said("leaving").hasPrefix("Stream"))
        #expect(found["stream_status"] as? Int == 200 && found["logout"] as? Int == 204)
        let ended = found["agent_close"] as? [Any] ?? []
        #expect(ended[safe: 1] as? Int == 4403 && ended[safe: 2] as? String == "session_ended")
        #expect(ended[safe: 3] as? String == "StreamEnded")
        #expect(said("stream_end") == "reset 8", "CANCEL")
    }
}

extension Array {
    fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
