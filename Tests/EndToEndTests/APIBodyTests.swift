import Foundation
import Synchronization
import Testing

/// Bodies of the API and of OAuth: how long they may take, and in whose words they are refused.
@Suite(.serialized) struct APIBodyTests {
    @Test(
        "A body that arrives byte by byte is 408 when its time is over, and one that takes less is read",
        arguments: ["/api/auth/login", "/oauth2/token"])
    func drip(_ path: String) async throws {
        let gateway = try await GatewayProcess.start("server: {idle_timeout: 1500ms}\n", users: [])
        defer { gateway.stop() }
        let type = path.hasPrefix("/oauth2/") ? "application/x-www-form-urlencoded" : "application/json"
        func begin(_ framing: String) throws -> RawSocket {
            let socket = try RawSocket(port: gateway.port, timeoutSeconds: 10)
            try socket.send("POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Type: \(type)\r\n\(framing)\r\n\r\n")
            return socket
        }
        for framing in ["Content-Length: 1000", "Transfer-Encoding: chunked"] {
            let socket = try begin(framing)
            let isOver = StopFlag()
            // Far more often than the connection's own idle time.
            Thread.detachNewThread {
                for _ in 0..<50 where !isOver.isSet {
                    guard (try? socket.send(framing.hasPrefix("T") ? "1\r\na\r\n" : "a")) != nil else { return }
                    Thread.sleep(forTimeInterval: 0.2)
                }
            }
            let (time, answer) = try seconds { try socket.response() }
            isOver.set()
            #expect(answer.status == 408 && time > 1.3 && time < 4, "\(framing): \(answer.status) after \(time) s")
            #expect((answer.json["error"] != nil) == path.hasPrefix("/oauth2/"), "\(answer.text)")
        }
        let patient = try begin("Content-Length: 4")
        for byte in ["{", "\"", "a", "}"] {
            try patient.send(byte)
            Thread.sleep(forTimeInterval: 0.1)
        }
        #expect(try patient.response().status == 400)
    }

    @Test("A foreign Origin is refused in OAuth's words under /oauth2/", arguments: ["token", "introspect", "revoke"])
    func foreignOrigin(_ name: String) async throws {
        let gateway = try await GatewayProcess.start("", users: [])
        defer { gateway.stop() }
        func ask(_ headers: [(String, String)]) throws -> RawResponse {
            try gateway.form("/oauth2/\(name)", [("grant_type", "client_credentials")], headers: headers)
        }
        let refused = try ask([("Origin", "https://evil.example")])
        #expect(refused.status == 403 && refused["content-type"] == "application/json")
        #expect(refused.json["error"] as? String == "origin_refused" && refused.json["error_description"] != nil)
        #expect(refused.json["code"] == nil && refused.json["title"] == nil)
        let control = try ask([])
        #expect(control.status == 401 && control.json["error"] as? String == "invalid_client")
    }
}

private final class StopFlag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}
