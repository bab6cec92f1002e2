import BasicsForTests
import Foundation
import Testing

/// Sockets over HTTP/2 (RFC 8441) that end at an upstream over HTTP/1.1, seen from both ends by one script.
@Suite(
    .enabled(if: HTTP2Script.canRun, "needs python3 with h2, and openssl"), .quiet("times what comes after a logout"))
struct HTTP2RelayTests {
    @Test("Bytes pass untouched, what is refused is no tunnel, and a logout puts its Close between two frames")
    func relay() async throws {
        let place = try GatewayProcess.makeDirectory()
        let upstream = try SocketAddressing.unusedPort()
        let gateway = try await GatewayInProcess.start(
            """
            \(try HTTP2Script.tls(in: place))
            tokens: {issuer: "https://localhost", clock_skew: 0s}
            routes:
              - {path: /ws, upstream: "http://127.0.0.1:\(upstream)", require: token+session, websocket: true}
              - {path: /plain, upstream: "http://127.0.0.1:\(upstream)", require: none}
            """, directory: place)
        defer { gateway.stop() }
        let expired = try await expiredToken(gateway)
        let found = try HTTP2Script.run(
            "http2_relay", gateway, ["\(upstream)", expired] + TestUser.ada.credentials + TestUser.bob.credentials)
        func saw(_ name: String, _ expected: String, _ comment: Comment? = nil) {
            let seen = found[name].map { "\($0)" } ?? "nothing"
            #expect(seen == expected, comment ?? "\(name)")
        }
        func refused(_ name: String, _ status: Int, _ code: String) {
            let seen = found[name] as? [Any] ?? []
            #expect(seen.first as? Int == status && seen.last as? String == code, "\(name): \(seen)")
        }
        refused("nothing", 401, "credentials_missing")
        refused("foreign", 403, "session_mismatch")
        refused("expired", 401, "token_expired")
        refused("origin", 403, "origin_refused")
        #expect(found["unseen"] as? Bool == true, "the upstream has seen none of these")
        for name in ["accept", "bare", "h2c", "protocol", "ok", "endless"] {
            refused(name, 502, "upstream_unavailable")
        }
        refused("forbidden", 403, "no")
        for path in ["/plain", "/", "/.well-known/jwks.json"] { saw(path, "501", "no socket, so no 2xx") }
        saw("many", "2000", "one connection outlives any number of refusals")

        saw("echo_status", "200")
        saw("target", "/ws/echo?a=1&b=2")
        for name in ["echo_same", "head_clean", "head_user", "begun"] {
            #expect(found[name] as? Bool == true, "\(name)")
        }
        saw("early", "early")
        saw("left", "StreamEnded")
        let timers = found["keep_alive"] as? [String: [Int]] ?? [:]
        for end in ["clients", "upstreams"] {
            let seconds = timers[end] ?? []
            #expect(!seconds.isEmpty && seconds.allSatisfy { $0 <= 30 }, "\(end): \(seconds)")
        }

        func closed(_ name: String, _ code: Int, _ reason: String) {
            let seen = found[name] as? [Any] ?? []
            guard seen.count == 4 else {
                Issue.record("\(name): \(seen)")
                return
            }
            #expect(seen[0] as? Int == 8 && seen[1] as? Int == code && seen[2] as? String == reason, "\(name): \(seen)")
            #expect(seen[3] as? String == "StreamEnded", "\(name): \(seen)")
        }
        closed("closes", 3456, "done")
        saw("logout", "204")
        closed("idle_close", 4403, "session_ended")
        saw("half_rest", String(repeating: "b", count: 50), "the frame that was under way is finished")
        closed("half_close", 4403, "session_ended")
        saw("stuck_rest", "", "where no border comes, nothing is put into the frame")
        refused("after", 401, "invalid_token")
        saw("bystander", "16", "another's socket goes on")
    }

    private func expiredToken(_ gateway: any GatewayUnderTest) async throws -> String {
        let issued = try GatewayProcess.run(
            [
                "token", "issue", "--subject", "usr_AAAAAAAAAAAAAAAAAAAAAA", "--tenant", TestUser.ada.tenant,
                "--issuer", "https://localhost", "--lifetime", "1s",
            ], in: gateway.directory, stateful: false)
        let token = issued.output.trimmingCharacters(in: .newlines)
        #expect(issued.status == 0, "\(issued.errors)")
        let isOver = try await eventually {
            Date().timeIntervalSince1970 > LoggedIn.expiry(of: token) + 0.1
        }
        #expect(isOver)
        return token
    }
}
