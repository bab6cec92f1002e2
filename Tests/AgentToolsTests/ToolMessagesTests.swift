import AgentTools
import Encodings
import Runtime
import Testing

/// What clients of the Runtime's tools send and are answered, as values.
@Suite struct ToolMessagesTests {
    private static let server = ToolServer(
        tools: [IntentDescription(name: "echo", summary: "Returns."), IntentDescription(name: "orders.cancel")],
        version: "1.0")

    private func read(_ text: String) throws(RPCFault) -> RPCBody { try RPCBody(Array(text.utf8)) }

    @Test(
        "Every id comes back as itself from its token, and two ids never share an intent",
        arguments: ["0", "-1", "9223372036854775807", #""a""#, #""é\u0000/""#, #""n1""#])
    func ids(_ id: String) throws {
        guard case .one(.request(let request)) = try read(#"{"jsonrpc":"2.0","id":\#(id),"method":"ping"}"#) else {
            Issue.record("no request")
            return
        }
        #expect(RPCID(token: request.id.token) == request.id)
        #expect(ToolEventID(ToolEventID.call(request.id).text) == .call(request.id))
        #expect((1...64).contains(request.id.intentID.utf8.count))
    }

    @Test("The number 1, the text 1 and the text n1 are three intents, and a long id has a short name")
    func distinct() throws {
        let long = String(repeating: "x", count: 256)
        let ids: [RPCID] = [.number(1), .string("1"), .string("n1"), .string(long), .string(long.dropLast() + "y")]
        #expect(Set(ids.map(\.intentID)).count == ids.count)
        #expect(ids.allSatisfy { $0.intentID.utf8.count <= 64 })
    }

    @Test(
        "What is no JSON-RPC message is refused, with the code that says why",
        arguments: [
            ("", RPCFault.Code.parseError), ("{", .parseError), ("nul", .parseError), ("1", .invalidRequest),
            (#"{"jsonrpc":"2.0"}"#, .invalidRequest), (#"{"jsonrpc":2.0,"id":1,"method":"x"}"#, .invalidRequest),
            (#"{"jsonrpc":"2.0","id":true,"method":"x"}"#, .invalidRequest),
            (#"{"jsonrpc":"2.0","id":1e400,"method":"x"}"#, .parseError),
            (#"{"jsonrpc":"2.0","id":1,"method":""}"#, .invalidRequest),
            (#"{"jsonrpc":"2.0","id":1,"method":"x","params":1}"#, .invalidRequest),
            ("[[]]", .invalidRequest), ("[]", .invalidRequest),
        ])
    func malformed(_ text: String, _ code: RPCFault.Code) {
        #expect(throws: RPCFault(code, "")) { try read(text) }
    }

    @Test("A message without an id is a notification, one without a method an answer")
    func kinds() throws {
        #expect(
            try read(#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
                == .one(.notification(method: "notifications/initialized")))
        #expect(try read(#"{"jsonrpc":"2.0","id":1,"result":{}}"#) == .one(.response))
        #expect(try read(#"[{"jsonrpc":"2.0","id":1,"error":{}}]"#) == .many([.response]))
    }

    @Test(
        "Only ids that were sent are read from Last-Event-ID",
        arguments: [
            "", "event", "event.", "event.-1", "event.+1", "event.01", "event.9223372036854775808", "call.", "call.n",
            "call.n+1", "call.s", "call.s===", "EVENT.1",
        ])
    func eventIDs(_ text: String) { #expect(ToolEventID(text) == nil) }

    @Test("An unknown revision is refused with the list of supported ones")
    func versions() throws {
        #expect(try ToolEra(version: nil) == .sessions(version: "2025-03-26"))
        #expect(try ToolEra(version: "2026-07-28") == .single)
        #expect(throws: RPCFault(.unsupportedVersion, "")) { try ToolEra(version: "2026-07-29") }
        #expect(throws: RPCFault(.unsupportedVersion, "")) { try ToolEra(version: "") }
        #expect(try ToolEra(version: "2025-11-25").primesStreams && !ToolEra(version: "2025-06-18").primesStreams)
        #expect(try ToolEra(version: "2025-03-26").allowsBatch && !ToolEra(version: "2025-06-18").allowsBatch)
    }

    private func step(_ method: String, _ params: JSONObject, _ era: ToolEra) throws -> ToolStep {
        let message: JSONObject = [
            "jsonrpc": "2.0", "id": 1, "method": .string(method), "params": .object(params),
        ]
        guard case .one(.request(let request)) = try RPCBody(JSONValue.object(message).serializedBytes()) else {
            throw RPCFault(.internalError, "no request")
        }
        return try Self.server.step(request, era)
    }

    @Test("A client is answered with its own revision, or with the newest that has sessions")
    func initialize() throws {
        for (asked, answered) in [
            ("2025-06-18", "2025-06-18"), ("2024-11-05", "2025-11-25"), ("2026-07-28", "2025-11-25"),
        ] {
            guard
                case .result(let result) = try step(
                    "initialize", ["protocolVersion": .string(asked)], .sessions(version: "2025-03-26"))
            else { return }
            #expect(result["protocolVersion"] == .string(answered))
        }
        #expect(throws: RPCFault(.methodNotFound, "")) { try step("initialize", [:], .single) }
        #expect(throws: RPCFault(.methodNotFound, "")) {
            try step("server/discover", [:], .sessions(version: "2025-11-25"))
        }
    }

    @Test("Only where there are sessions is a model told that a repeated call gets the stored outcome")
    func instructions() throws {
        let era = ToolEra.sessions(version: "2025-11-25")
        guard case .result(let begun) = try step("initialize", ["protocolVersion": "2025-11-25"], era),
            case .result(let discovered) = try step("server/discover", [:], .single)
        else {
            Issue.record("no result")
            return
        }
        #expect(begun["instructions"]?.stringValue?.contains("gets the stored outcome") == true)
        #expect(discovered["instructions"]?.stringValue?.contains("runs again") == true)
        #expect(discovered["instructions"]?.stringValue?.contains("stored") == false)
    }

    @Test("Tools are the intents, and only they can be called")
    func calls() throws {
        guard case .result(let list) = try step("tools/list", [:], .single) else { return }
        #expect(list["tools"]?.arrayValue?.count == 2 && list["resultType"] == "complete")
        #expect(
            try step("tools/call", ["name": "orders.cancel", "_meta": ["progressToken": "p"]], .single)
                == .call(ToolCall(name: "orders.cancel", arguments: [:], progressToken: "p")))
        for params in [
            [:], ["name": "no"], ["name": 1], ["name": "echo", "arguments": 1],
            ["name": "echo", "_meta": ["progressToken": [:]]],
        ] as [JSONObject] {
            #expect(throws: RPCFault(.invalidParams, "")) { try step("tools/call", params, .single) }
        }
    }

    @Test("An outcome is the result of its call, and an error is one that the model sees")
    func outcomes() {
        let era = ToolEra.sessions(version: "2025-11-25")
        let good = Self.server.result(ofEvent: #"{"type":"event","seq":4,"event":"result","data":{"a":1}}"#, era)
        #expect(good["structuredContent"] == ["a": 1] && good["isError"] == false && good["resultType"] == nil)
        let plain = Self.server.result(ofEvent: #"{"type":"event","seq":4,"event":"result","data":[1]}"#, .single)
        #expect(plain["structuredContent"] == nil && plain["resultType"] == "complete")
        let bad = Self.server.result(ofEvent: #"{"event":"error","error":{"code":"not_found","message":"No."}}"#, era)
        #expect(bad["isError"] == true)
        #expect(Self.server.notification(ofEvent: #"{"seq":7}"#)?.seq == 7)
        #expect(Self.server.notification(ofEvent: "nothing") == nil)
    }

    @Test("A stream goes on after the event that the client has, and tells what is no longer kept")
    func opening() throws {
        func level(_ message: JSONObject?) -> JSONValue? { message?["params"]?.objectValue?["level"] }
        let whole = #"{"type":"ready","last_seq":9}"#
        for (after, position) in [(nil, 9), (4, 4)] as [(Int64?, Int64)] {
            let opening = try #require(ToolServer.opening(ofReady: whole, after: after))
            #expect(opening.position == position && opening.loss == nil)
        }
        let lost = ToolServer.opening(ofReady: #"{"last_seq":9,"lost":true,"first_seq":7}"#, after: 4)
        #expect(lost?.position == 6 && level(lost?.loss) == "warning")
        #expect(lost?.loss?["params"]?.objectValue?["data"]?.objectValue?["first_seq"] == 7)
        #expect(ToolServer.opening(ofReady: #"{"last_seq":0,"lost":true,"first_seq":0}"#, after: 4)?.position == 0)
        #expect(ToolServer.opening(ofReady: "nothing", after: nil) == nil)
        let failed = #"{"seq":7,"event":"error","error":{"code":"interrupted","message":"No."}}"#
        #expect(level(Self.server.notification(ofEvent: failed)?.message) == "error")
        #expect(level(Self.server.notification(ofEvent: #"{"seq":7,"event":"result","data":1}"#)?.message) == "info")
    }

    @Test("In the revision without sessions the fields must repeat the body")
    func headers() throws {
        let params: JSONObject = [
            "name": "echo",
            "_meta": [
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": [:],
            ],
        ]
        let message: JSONObject = ["jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": .object(params)]
        guard case .one(.request(let request)) = try RPCBody(JSONValue.object(message).serializedBytes()) else {
            return
        }
        func check(_ version: String?, _ method: String?, _ name: String?) throws(RPCFault) {
            try ToolHeaders(version: version, method: method, name: name).check(request)
        }
        try check("2026-07-28", "tools/call", "echo")
        for (version, method, name) in [
            (nil, "tools/call", "echo"), ("2026-07-28", nil, "echo"), ("2026-07-28", "tools/call", nil),
            ("2025-11-25", "tools/call", "echo"), ("2026-07-28", "tools/call", "Echo"),
        ] as [(String?, String?, String?)] {
            #expect(throws: RPCFault(.headerMismatch, "")) { try check(version, method, name) }
        }
    }
}
