import BasicsForTests
import Foundation
import Testing

/// Streaming answers over HTTP/2 under their leases. The same over HTTP/1.1 is in `SocketRelayTests`.
@Suite(
    .enabled(if: HTTP2Script.canRun, "needs python3 with h2, and openssl"), .quiet("its tokens live for some seconds"))
struct HTTP2LeaseTests {
    /// A text of six seconds, or events for half a minute.
    private static let script: RecordingUpstream.Script = { request, stream in
        let isText = request.target.hasSuffix("long")
        let type = isText ? "text/plain" : "text/event-stream"
        try stream.send("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<(isText ? 120 : 600) {
            try stream.send("9\r\ndata: x\n\n\r\n")
            Thread.sleep(forTimeInterval: 0.05)
        }
        try stream.send("0\r\n\r\n")
        return .close
    }

    @Test("Event streams and leased answers end with CANCEL at logout and expiry, a refresh extends them, others go on")
    func streams() async throws {
        let upstream = try RecordingUpstream(script: Self.script)
        defer { upstream.stop() }
        let place = try GatewayProcess.makeDirectory()
        let gateway = try await GatewayInProcess.start(
            """
            \(try HTTP2Script.tls(in: place))
            tokens: {issuer: "https://localhost", access_token_lifetime: 4s, clock_skew: 0s}
            routes:
              - {path: /events, upstream: "\(upstream.url)", require: token}
              - {path: /leased, upstream: "\(upstream.url)", require: token, lease: true}
            """, directory: place)
        defer { gateway.stop() }
        let found = try HTTP2Script.run(
            "http2_leases", gateway, TestUser.ada.credentials + TestUser.bob.credentials)
        #expect(found["logout_status"] as? Int == 204 && found["finished"] as? String == "end")
        #expect(found["refreshed_by"] as? Int ?? 0 >= 1)
        // The logout comes about four seconds before the expiry that would end its streams otherwise.
        let times: [(String, Double, Double)] = [("logout", -0.5, 2), ("expired", 0, 3), ("refreshed", 0, 3)]
        for (name, soonest, latest) in times {
            let ends = found[name] as? [String: [Any]] ?? [:]
            #expect(Set(ends.keys) == ["/events/events", "/leased/long", "/leased/events"])
            for (path, end) in ends {
                let after = end.last as? Double ?? -9
                #expect(end.first as? String == "reset 8", "\(name) \(path): CANCEL")
                #expect(after >= soonest && after < latest, "\(name) \(path): \(after) s")
            }
        }
        #expect(try await eventually { upstream.openConnections == 0 })
    }
}
