import Encodings
import Runtime

/// A call of a tool, which is an intent of the Runtime.
package struct ToolCall: Sendable, Equatable {
    /// The name of tool and intent.
    package let name: String
    /// The parameters.
    package let arguments: JSONObject
    /// What the client wants progress notifications to name; nil for none.
    package let progressToken: JSONValue?

    package init(name: String, arguments: JSONObject, progressToken: JSONValue?) {
        self.name = name
        self.arguments = arguments
        self.progressToken = progressToken
    }
}

/// What follows from a request.
package enum ToolStep: Sendable, Equatable {
    /// It is answered with this result.
    case result(JSONObject)
    /// An intent runs, and its outcome is the answer.
    case call(ToolCall)
}

/// The intents of the Runtime as a server of the Model Context Protocol: what each request is answered with. Pure.
package struct ToolServer: Sendable {
    private let tools: [IntentDescription]
    private let version: String

    /// - Parameters:
    ///   - tools: the intents, which are listed in this order.
    ///   - version: the version of the server.
    package init(tools: [IntentDescription], version: String) {
        self.tools = tools
        self.version = version
    }

    /// Judges a request.
    package func step(_ request: RPCRequest, _ era: ToolEra) throws(RPCFault) -> ToolStep {
        switch request.method {
        case "tools/list": return .result(marked(list, era, isCacheable: true))
        case "tools/call": return .call(try call(request))
        case "initialize" where era != .single: return .result(initialized(request, era))
        // Messages of all levels are sent, so there is nothing to set.
        case "ping" where era != .single, "logging/setLevel" where era != .single: return .result([:])
        case "server/discover" where era == .single: return .result(marked(discovered(era), era, isCacheable: true))
        default: throw RPCFault(.methodNotFound, "There is no such method.", id: request.id)
        }
    }

    // MARK: Results

    private var information: JSONValue { ["name": "gatehouse", "version": .string(version)] }

    /// What a model is told of the tools. Without sessions the id of a request names nothing that lasts.
    private static func instructions(_ era: ToolEra) -> JSONValue {
        switch era {
        case .sessions:
            "Each tool is an intent of the session. A call with the id of an earlier one gets the stored outcome."
        case .single: "Each tool is an intent. A call that is sent again runs again."
        }
    }

    private func initialized(_ request: RPCRequest, _ era: ToolEra) -> JSONObject {
        let asked = request.params["protocolVersion"]?.stringValue ?? ""
        let version = ToolEra.withSessions.first { $0.hasSameBytes(as: asked) } ?? ToolEra.withSessions.first ?? ""
        return [
            "protocolVersion": .string(version), "capabilities": ["tools": [:], "logging": [:]],
            "serverInfo": information, "instructions": Self.instructions(era),
        ]
    }

    private func discovered(_ era: ToolEra) -> JSONObject {
        [
            "supportedVersions": .array(ToolEra.supported.map { .string($0) }), "capabilities": ["tools": [:]],
            "instructions": Self.instructions(era), "_meta": ["io.modelcontextprotocol/serverInfo": information],
        ]
    }

    private var list: JSONObject {
        let entries = tools.map { tool -> JSONValue in
            var entry: JSONObject = ["name": .string(tool.name)]
            if !tool.summary.isEmpty { entry["description"] = .string(tool.summary) }
            entry["inputSchema"] = .object(tool.parameters)
            return .object(entry)
        }
        return ["tools": .array(entries)]
    }

    /// With the members that results have in the revision without sessions.
    private func marked(_ result: JSONObject, _ era: ToolEra, isCacheable: Bool = false) -> JSONObject {
        guard era == .single else { return result }
        var result = result
        result["resultType"] = "complete"
        if isCacheable {
            result["ttlMs"] = 60_000
            result["cacheScope"] = "private"
        }
        return result
    }

    // MARK: Calls

    private func call(_ request: RPCRequest) throws(RPCFault) -> ToolCall {
        guard let name = request.params["name"]?.stringValue, tools.contains(where: { $0.name.hasSameBytes(as: name) })
        else { throw RPCFault(.invalidParams, "There is no such tool.", id: request.id) }
        let arguments = request.params["arguments"]
        guard arguments == nil || arguments?.isNull == true || arguments?.objectValue != nil else {
            throw RPCFault(.invalidParams, "'arguments' is an object.", id: request.id)
        }
        return ToolCall(
            name: name, arguments: arguments?.objectValue ?? JSONObject(),
            progressToken: try progressToken(of: request))
    }

    private func progressToken(of request: RPCRequest) throws(RPCFault) -> JSONValue? {
        guard let token = request.params["_meta"]?.objectValue?["progressToken"], !token.isNull else { return nil }
        guard RPCID(token) != nil else {
            throw RPCFault(.invalidParams, "'progressToken' is a short string or an integer.", id: request.id)
        }
        return token
    }

    /// The result of a call, from the event of its intent.
    /// - Parameter event: as the Runtime has written it.
    package func result(ofEvent event: String, _ era: ToolEra) -> JSONObject {
        guard let event = Self.object(event) else { return failed("internal_error", "The outcome can't be read.", era) }
        if let error = event["error"]?.objectValue {
            return failed(error["code"]?.stringValue ?? "", error["message"]?.stringValue ?? "", era)
        }
        let data = event["data"] ?? .null
        var result: JSONObject = ["content": [["type": "text", "text": .string(data.serialized())]]]
        if data.objectValue != nil { result["structuredContent"] = data }
        result["isError"] = false
        return marked(result, era)
    }

    private func failed(_ code: String, _ message: String, _ era: ToolEra) -> JSONObject {
        let text = "\(code): \(message)"
        return marked(["content": [["type": "text", "text": .string(text)]], "isError": true], era)
    }

    /// The notification that tells an event of the session's stream, and the number of the event.
    package func notification(ofEvent event: String) -> (seq: Int64, message: JSONObject)? {
        guard let object = Self.object(event), let seq = object["seq"]?.int64Value else { return nil }
        return (seq, Self.message(object["error"] == nil ? "info" : "error", object))
    }

    /// How a session's stream begins.
    package struct Opening: Sendable, Equatable {
        /// The number of the event after which it goes on.
        package let position: Int64
        /// What tells the client that events are missing; nil if none is.
        package let loss: JSONObject?
    }

    /// How a session's stream begins, from its first message.
    /// - Parameter after: the number of the event that the client named; nil for new events only.
    package static func opening(ofReady text: String, after: Int64?) -> Opening? {
        guard let ready = object(text), let last = ready["last_seq"]?.int64Value else { return nil }
        guard ready["lost"]?.boolValue == true, let first = ready["first_seq"]?.int64Value else {
            return Opening(position: after ?? last, loss: nil)
        }
        let data: JSONObject = [
            "type": "lost", "first_seq": .integer(first),
            "message": "Events before this number are no longer kept. What they told is missing here.",
        ]
        return Opening(position: max(0, first &- 1), loss: message("warning", data))
    }

    private static func message(_ level: String, _ data: JSONObject) -> JSONObject {
        RPCText.notification(
            "notifications/message", ["level": .string(level), "logger": "gatehouse", "data": .object(data)])
    }

    /// The notification of a call's progress: 0 when it has begun, 1 when it is over.
    package static func progress(_ token: JSONValue, _ done: Int64) -> JSONObject {
        RPCText.notification(
            "notifications/progress", ["progressToken": token, "progress": .integer(done), "total": 1])
    }

    /// Events are written by the Runtime, which has bounded them.
    private static func object(_ text: String) -> JSONObject? {
        let limits = JSONLimits(
            maxBytes: 1 << 20, maxDepth: 64, maxMembers: 1 << 17, maxValues: 1 << 19, maxStringBytes: 1 << 20)
        return try? StrictJSON.object(text, limits: limits)
    }
}
