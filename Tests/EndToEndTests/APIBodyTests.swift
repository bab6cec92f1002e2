import Foundation
import Testing

/// Bodies of the API and of OAuth: how long they may take, and in whose words they are refused.
@Suite(.blocking) struct APIBodyTests {
    @Test(
        "A body that arrives byte by byte is 408 when its time is over, and one that takes less is read",
        arguments: ["/api/auth/login", "/oauth2/token"])
    func drip(_ path: String) async throws {
        let gateway = try await GatewayInProcess.start("server: {idle_timeout: 3s}\n", users: [])
        defer { gateway.stop() }
        let type = path.hasPrefix("/oauth2/") ? "application/x-www-form-urlencoded" : "application/json"
        func send(_ framing: String, _ parts: [String], every pause: Int32) throws -> RawResponse {
            let socket = try RawSocket(port: gateway.port)
            try socket.send("POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Type: \(type)\r\n\(framing)\r\n\r\n")
            for part in parts where !socket.isReadable(within: pause) { try socket.send(part) }
            return try socket.response()
        }
        // More than there is time for: the connection is never idle.
        let (lengthDrips, chunkDrips) = (Array(repeating: "a", count: 99), Array(repeating: "1\r\na\r\n", count: 99))
        for (framing, drips) in [("Content-Length: 1000", lengthDrips), ("Transfer-Encoding: chunked", chunkDrips)] {
            let answer = try send(framing, drips, every: 200)
            #expect(answer.status == 408, "\(framing): \(answer.status)")
            #expect((answer.json["error"] != nil) == path.hasPrefix("/oauth2/"), "\(answer.text)")
        }
        // Not well-formed, but whole.
        let whole = ["{", "%", "a", "}"]
        var control = try send("Content-Length: 4", whole, every: 100)
        // Where the machine stops for seconds in the midst of it, it comes too late as well.
        for _ in 0..<2 where control.status == 408 { control = try send("Content-Length: 4", whole, every: 100) }
        #expect(control.status == 400)
    }

    @Test("A foreign Origin is refused in OAuth's words under /oauth2/", arguments: ["token", "introspect", "revoke"])
    func foreignOrigin(_ name: String) async throws {
        let gateway = try await GatewayInProcess.start("", users: [])
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
