import BasicsForTests
import Foundation
import Testing

/// Streaming answers over HTTP/2 under their leases. The same over HTTP/1.1 is in `SocketRelayTests`.
@Suite(
    .enabled(if: HTTP2Script.canRun, "needs python3 with h2, and openssl"), .quiet("its tokens live for some seconds"))
struct HTTP2LeaseTests {
    /// A text of so many seconds, or events for half a minute.
    private static func script(_ seconds: Int) -> RecordingUpstream.Script {
        { request, stream in
            let isText = request.target.hasSuffix("long")
            let type = isText ? "text/plain" : "text/event-stream"
            try stream.send("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<(isText ? 20 * seconds : 600) {
                try stream.send("9\r\ndata: x\n\n\r\n")
                Thread.sleep(forTimeInterval: 0.05)
            }
            try stream.send("0\r\n\r\n")
            return .close
        }
    }

    @Test("Event streams and leased answers end with CANCEL at logout and expiry, a refresh extends them, others go on")
    func streams() async throws {
        // Where the machine stops for a second or two, the same with more time for everything.
        if let faults = try? await Self.faults(lifetime: 4, text: 6), faults.isEmpty { return }
        let faults = try await Self.faults(lifetime: 12, text: 24)
        #expect(faults.isEmpty, "\(faults)")
    }

    /// What did not end as it should.
    ///
    /// - Parameters:
    ///   - lifetime: of a token, in seconds.
    ///   - text: how many seconds a text takes: more than a token and the one after it live.
    private static func faults(lifetime: Int, text: Int) async throws -> [String] {
        let upstream = try RecordingUpstream(script: script(text))
        defer { upstream.stop() }
        let place = try GatewayProcess.makeDirectory()
        let gateway = try await GatewayInProcess.start(
            """
            \(try HTTP2Script.tls(in: place))
            tokens: {issuer: "https://localhost", access_token_lifetime: \(lifetime)s, clock_skew: 0s}
            routes:
              - {path: /events, upstream: "\(upstream.url)", require: token}
              - {path: /leased, upstream: "\(upstream.url)", require: token, lease: true}
            """, directory: place)
        defer { gateway.stop() }
        let found = try HTTP2Script.run(
            "http2_leases", gateway, TestUser.ada.credentials + TestUser.bob.credentials)
        var faults: [String] = []
        let isFinished = found["logout_status"] as? Int == 204 && found["finished"] as? String == "end"
        let isExtended = found["refreshed_by"] as? Int ?? 0 >= 1
        if !isFinished || !isExtended { faults.append("\(found)") }
        // The logout comes about a token's life before the expiry that would end its streams otherwise.
        let life = Double(lifetime)
        let times: [(String, Double, Double)] = [
            ("logout", -0.5, life / 2), ("expired", 0, life * 0.75), ("refreshed", 0, life * 0.75),
        ]
        for (name, soonest, latest) in times {
            let ends = found[name] as? [String: [Any]] ?? [:]
            for path in ["/events/events", "/leased/long", "/leased/events"] {
                let end = ends[path] ?? []
                let after = end.last as? Double ?? -9
                // 8 is CANCEL.
                let isRight = end.first as? String == "reset 8" && after >= soonest && after < latest
                if !isRight { faults.append("\(name) \(path): \(end)") }
            }
        }
        let isFree = try await eventually { upstream.openConnections == 0 }
        if !isFree { faults.append("\(upstream.openConnections) connections are left") }
        return faults
    }
}
