import Foundation
import Testing

/// The four ways to carry credentials to a WebSocket, and what may not be mixed.
@Suite(.blocking) struct SocketCarrierTests {
    @Test("Each carrier opens the agent socket, and only gatehouse.v1 is echoed")
    func carriers() async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let cases: [(String, [(String, String)], String?)] = [
            ("?" + ada.query, [], nil),
            ("?access%5Ftoken=\(ada.token)&session_id=\(ada.sessionID)", [], nil),
            ("", [ada.bearer, ("Session-Id", ada.sessionID)], nil),
            ("?session_id=\(ada.sessionID)", [ada.bearer], nil),
            (
                "",
                [("Sec-WebSocket-Protocol", "gatehouse.v1, bearer.\(ada.token), session.\(ada.sessionID)")],
                "gatehouse.v1"
            ),
            ("?ticket=\(try gateway.ticket(ada))", [], nil),
            ("?" + ada.query, [("Sec-WebSocket-Protocol", "chat, gatehouse.v1")], "gatehouse.v1"),
            ("?" + ada.query, [("Cookie", "gatehouse=\(ada.sessionSecret)")], nil),
            ("?" + ada.query, [("Authorization", "Basic Zm9vOmJhcg==")], nil),
        ]
        for (query, headers, echoed) in cases {
            let probe = try gateway.opened("/api/runtime/agent" + query, headers: headers)
            #expect(probe.answer["sec-websocket-accept"] == WebSocketProbe.accept)
            #expect(probe.answer["sec-websocket-protocol"] == echoed)
            #expect(probe.answer.all("sec-websocket-extensions").isEmpty)
        }
        for secret in [ada.token, ada.sessionID, ada.sessionSecret, ada.refreshToken] {
            #expect(!gateway.log.contains(secret))
        }
    }

    @Test("A ticket opens one socket, from the Origin it was minted from")
    func tickets() async throws {
        let gateway = try await GatewayInProcess.start("server:\n  allowed_origins: [https://app.example]")
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        func status(_ ticket: String, _ origin: String?) throws -> Int {
            let headers = origin.map { [("Origin", $0)] } ?? []
            return try gateway.socket("/api/runtime/agent?ticket=\(ticket)", headers: headers).answer.status
        }
        let own = "http://127.0.0.1:\(gateway.port)"
        let once = try gateway.ticket(ada)
        #expect(try status(once, nil) == 101)
        #expect(try status(once, nil) == 401)
        let bound = try gateway.ticket(ada, origin: own)
        #expect(try status(bound, own) == 101)
        for wrong in ["https://app.example", nil] {
            let bound = try gateway.ticket(ada, origin: own)
            #expect(try status(bound, wrong) == 401)
            #expect(try status(bound, own) == 401, "shown at the wrong door, it is used up")
        }
        #expect(try status(try gateway.ticket(ada), "https://app.example") == 101)
        let last = try gateway.ticket(ada)
        _ = try gateway.request("POST", "/api/auth/logout", headers: [ada.bearer])
        #expect(try status(last, nil) == 401)
    }

    @Test("What comes in the packet of the request is read behind the 101, and dropped behind a refusal")
    func pipelined() async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let hello = WebSocketProbe.frame(1, Array("hello".utf8))
        let probe = try gateway.socket("/api/runtime/echo?" + ada.query, extra: hello)
        #expect(try probe.message()?.text == "hello")
        let intent = #"{"type":"intent","id":"c1","intent":"echo","params":{"n":1}}"#
        let agent = try gateway.socket(
            "/api/runtime/agent?" + ada.query, extra: WebSocketProbe.frame(1, Array(intent.utf8)))
        #expect(try agent.message()?.json["type"] as? String == "ready")
        #expect(try agent.message()?.json["id"] as? String == "c1")

        let smuggled = "GET /api/auth/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(ada.token)\r\n\r\n"
        for bytes in [Array(smuggled.utf8), hello] {
            let refused = try gateway.socket("/api/runtime/agent", extra: bytes)
            #expect(refused.answer.status == 401 && refused.answer["connection"] == "close")
            #expect(try refused.socket.readToEnd().isEmpty)
        }
        #expect(try gateway.isHealthy(ada.token))
    }
}
