import Foundation
import Testing

/// An upstream that does not serve leaves a line in the log that names it and the cause.
@Suite struct UpstreamLogTests {
    @Test("A refused connection, a missing socket and a late answer are told once each, with distinct reasons")
    func causes() async throws {
        let slow = try RecordingUpstream { _, _ in
            Thread.sleep(forTimeInterval: 2)
            return .close
        }
        defer { slow.stop() }
        let port = try SocketAddressing.unusedPort()
        let path = "/tmp/gh-none-\(UUID().uuidString.prefix(8)).sock"
        let gateway = try await GatewayProcess.start(
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
            let isTold = try await eventually(within: .seconds(2)) { gateway.log.contains(reason) }
            #expect(isTold, "\(path)")
            // Each event loop has connections of its own, and all of them one log.
            let lines = gateway.log.split(separator: "\n").filter { $0.contains("reason=\(reason)") }
            #expect(lines.count == 1 && lines[0].contains("upstream=\(place)"), "\(lines)")
            #expect(lines.allSatisfy { $0.contains(" warning ") && $0.contains("cause=") })
        }
    }
}
