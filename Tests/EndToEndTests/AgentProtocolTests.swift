import Foundation
import Testing

/// What is spoken over the agent socket.
@Suite(.blocking) struct AgentProtocolTests {
    private func intent(_ id: String, _ name: String = "echo", _ params: String = "{}") -> String {
        #"{"type":"intent","id":"\#(id)","intent":"\#(name)","params":\#(params)}"#
    }

    @Test("ready comes first; events are numbered one by one and come to every socket; a repeat runs nothing")
    func events() async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let one = try gateway.socket("/api/runtime/agent?\(ada.query)")
        let ready = try #require(try one.message()).json
        #expect(ready["type"] as? String == "ready" && ready["last_seq"] as? Int == 0)
        let session = try #require(ready["session"] as? [String: Any])
        #expect(session["state"] as? String == "authenticated" && session["tenant_id"] as? String == "acme")
        #expect(session["user_id"] as? String == ada.userID)
        let two = try gateway.opened("/api/runtime/agent?\(ada.query)")
        for (index, id) in ["a", "b", String(repeating: "é", count: 64)].enumerated() {
            try one.send(text: intent(id, "echo", #"{"n":\#(index)}"#))
            for probe in [one, two] {
                let event = try #require(try probe.message()).json
                #expect(event["seq"] as? Int == index + 1 && event["id"] as? String == id)
                #expect(event["event"] as? String == "result")
                #expect((event["data"] as? [String: Any])?["n"] as? Int == index)
            }
        }
        try one.send(text: intent("a", "echo", #"{"n":0}"#))
        let repeated = try #require(try one.message()).json
        #expect(repeated["seq"] as? Int == 1 && repeated["id"] as? String == "a")
        for other in [intent("a", "echo", #"{"n":9}"#), intent("a", "no.such")] {
            try one.send(text: other)
            let recorded = try #require(try one.message()).json
            #expect(recorded["seq"] as? Int == 1 && (recorded["data"] as? [String: Any])?["n"] as? Int == 0, "\(other)")
        }
        try one.send(text: intent("x", "no.such"))
        for probe in [one, two] {
            let event = try #require(try probe.message()).json
            #expect(event["seq"] as? Int == 4 && event["event"] as? String == "error")
            #expect((event["error"] as? [String: Any])?["code"] as? String == "not_found")
        }
    }

    @Test("A frame that is no intent is told so without a number, and the socket lives on")
    func faults() async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        let probe = try gateway.opened("/api/runtime/agent?\(try gateway.login(.ada).query)")
        let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        let frames = [
            "", "x", "[]", "null", "{}", #"{"type":"x","id":"a","intent":"echo"}"#, #"{"type":"intent"}"#, intent(""),
            intent(String(repeating: "a", count: 65)), #"{"type":"intent","id":1,"intent":"echo"}"#,
            #"{"type":"intent","id":"a"}"#, intent("a", "echo", "[]"), intent("a", "echo", #"{"a":1,"\u0061":2}"#),
            intent("a", "echo", #"{"x":\#(deep)}"#), intent("a") + " {}", intent("a\\u0000"),
        ]
        for frame in frames {
            try probe.send(text: frame)
            let answer = try #require(try probe.message()).json
            #expect(answer["type"] as? String == "error" && answer["seq"] == nil, "\(frame)")
            #expect((answer["error"] as? [String: Any])?["code"] as? String == "invalid_request", "\(frame)")
        }
        try probe.send(WebSocketProbe.frame(2, Array(intent("a").utf8)))
        #expect(try probe.message()?.json["type"] as? String == "error")
        try probe.send(text: intent("a"))
        #expect(try probe.message()?.json["seq"] as? Int == 1)
    }

    @Test("Hundreds of intents sent at once all run, in order")
    func pipelined() async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        let probe = try gateway.opened("/api/runtime/agent?\(try gateway.login(.ada).query)")
        let count = 400
        let all = (0..<count).flatMap { WebSocketProbe.frame(1, Array(intent("i\($0)").utf8)) }
        try probe.send(all)
        for index in 0..<count {
            let event = try #require(try probe.message()).json
            #expect(event["seq"] as? Int == index + 1 && event["id"] as? String == "i\(index)")
        }
    }

    @Test("resume_from replays what was missed, also after a restart; what is not kept is told")
    func resume() async throws {
        let yaml = "tokens:\n  issuer: http://gatehouse.test"
        var gateway = try await GatewayProcess.start(yaml)
        let ada = try gateway.login(.ada)
        let probe = try gateway.opened("/api/runtime/agent?\(ada.query)")
        let padding = String(repeating: "p", count: 20_000)
        for index in 1...150 {
            try probe.send(text: intent("i\(index)", "echo", #"{"p":"\#(padding)"}"#))
            #expect(try probe.message()?.json["seq"] as? Int == index)
        }
        gateway.kill()
        gateway = try await GatewayProcess.start(yaml, users: [], directory: gateway.directory)
        defer { gateway.stop() }
        let later = try gateway.socket("/api/runtime/agent?\(ada.query)&resume_from=3")
        #expect(try later.message()?.json["last_seq"] as? Int == 150)
        // Read late, when another has had all of it: a long replay waits for its reader.
        let other = try gateway.opened("/api/runtime/agent?\(ada.query)&resume_from=3")
        for probe in [other, later] {
            for seq in 4...150 {
                let event = try #require(try probe.message()).json
                #expect(event["seq"] as? Int == seq && event["id"] as? String == "i\(seq)")
            }
        }
        try later.send(text: intent("i7", "echo", #"{"p":"\#(padding)"}"#))
        #expect(try later.message()?.json["seq"] as? Int == 7)
        let beyond = try gateway.socket("/api/runtime/agent?\(ada.query)&resume_from=9999")
        let ready = try #require(try beyond.message()).json
        #expect(ready["lost"] as? Bool == true && ready["first_seq"] as? Int == 1)
        for bad in ["x", "-1", "", "1&resume_from=1", "99999999999999999999"] {
            let refused = try gateway.socket("/api/runtime/agent?\(ada.query)&resume_from=\(bad)")
            #expect(refused.answer.status == 400 && refused.answer.code == "invalid_request", "\(bad)")
        }
    }

    @Test("POST /api/intent runs one intent with the same rights, and open sockets hear of it")
    func http() async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        let probe = try gateway.opened("/api/runtime/agent?\(ada.query)")
        let own = [ada.bearer, ("Session-Id", ada.sessionID)]
        let body: [String: Any] = ["id": "h1", "intent": "echo", "params": ["n": 1]]
        let event = try gateway.request("POST", "/api/intent", headers: own, json: body)
        #expect(event.status == 200 && event.json["seq"] as? Int == 1 && event.json["event"] as? String == "result")
        #expect(try probe.message()?.json["id"] as? String == "h1")
        #expect(try gateway.request("POST", "/api/intent", headers: own, json: body).json["seq"] as? Int == 1)
        let other: [String: Any] = ["id": "h1", "intent": "echo", "params": ["n": 2]]
        let repeated = try gateway.request("POST", "/api/intent", headers: own, json: other)
        #expect(repeated.status == 200 && repeated.text == event.text)
        #expect(try gateway.request("POST", "/api/intent", headers: [ada.bearer], json: body).status == 401)
        let foreign = [ada.bearer, ("Session-Id", bob.sessionID)]
        let refused = try gateway.request("POST", "/api/intent", headers: foreign, json: body)
        #expect(refused.status == 403 && refused.code == "session_mismatch")
        #expect(try gateway.request("POST", "/api/intent", headers: own, body: "{").status == 415)
        let typed = own + [("Content-Type", "application/json")]
        #expect(try gateway.request("POST", "/api/intent", headers: typed, body: "{").status == 400)
    }

    @Test("Artifacts are versioned, move one way, and belong to their owner alone")
    func artifacts() async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        func run(_ user: LoggedIn, _ name: String, _ params: [String: Any]) throws -> [String: Any] {
            try gateway.request(
                "POST", "/api/intent", headers: [user.bearer, ("Session-Id", user.sessionID)],
                json: ["intent": "artifact.\(name)", "params": params]
            ).json
        }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        func version(_ event: [String: Any]) -> Int? { (event["data"] as? [String: Any])?["version"] as? Int }
        #expect(version(try run(ada, "put", ["name": "plan", "content": ["a": 1]])) == 1)
        #expect(version(try run(ada, "put", ["name": "plan", "content": 2, "expected_version": 1])) == 2)
        #expect(
            try run(ada, "put", ["name": "plan", "content": 3, "expected_version": 1])["event"] as? String == "error")
        #expect(try run(ada, "transition", ["name": "plan", "to": "archived"])["event"] as? String == "error")
        #expect(try run(ada, "transition", ["name": "plan", "to": "active"])["event"] as? String == "result")
        #expect(try run(ada, "transition", ["name": "plan", "to": "draft"])["event"] as? String == "error")
        let got = try run(ada, "get", ["name": "plan"])["data"] as? [String: Any]
        #expect(got?["content"] as? Int == 2 && got?["state"] as? String == "active")
        let (foreign, unknown) = (try run(bob, "get", ["name": "plan"]), try run(bob, "get", ["name": "nothing"]))
        #expect(foreign["event"] as? String == "error")
        let faults = [foreign, unknown].map { $0["error"] as? [String: String] }
        #expect(faults[0] != nil && faults[0] == faults[1])
        let listed = try run(bob, "list", [:])["data"] as? [String: Any]
        #expect((listed?["artifacts"] as? [Any])?.isEmpty == true)
    }
}
