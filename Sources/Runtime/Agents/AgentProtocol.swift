import Encodings
import Libcrypto

/// The output of an agent's connection.
package enum AgentOutput: Sendable, Equatable {
    /// A message of the session's stream, as JSON. The number that is being sent is bounded, so
    /// ``AgentConnection/written(events:)`` must be called for each that was written.
    case event(String)
    /// A message outside the stream, as JSON: `ready`, or the answer to a message that is not an intent.
    case message(String)
    /// The connection ends; nothing follows.
    case end(AgentEnd)
}

/// Why the Runtime ends an agent's connection.
package enum AgentEnd: Sendable, Equatable {
    /// The session is no longer live.
    case sessionEnded
    /// The session has a later epoch, in which the connection's permit is not valid.
    case permitOutgrown
    /// The peer reads so slowly that its next events are no longer kept.
    case fellBehind
}

/// The limits for one agent.
package struct AgentLimits: Sendable, Equatable {
    /// The longest message, in bytes.
    package var maxMessage: Int
    /// The number of waiting intents of one socket.
    package var maxQueued: Int
    /// The longest event, in bytes.
    package var maxEvent: Int

    package init(maxMessage: Int = 64 * 1_024, maxQueued: Int = 64, maxEvent: Int = 256 * 1_024) {
        self.maxMessage = maxMessage
        self.maxQueued = maxQueued
        self.maxEvent = maxEvent
    }
}

/// Why a message was refused. It is not part of the session's stream. Two faults are equal if their codes are.
package struct AgentFault: Error, Sendable, Hashable {
    /// The reasons, as the frame `error` names them.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// Not one JSON object, or a member is missing or malformed.
        case invalidRequest = "invalid_request"
        /// Longer than ``AgentLimits/maxMessage``.
        case payloadTooLarge = "payload_too_large"
        /// Too many intents are waiting on the socket or running for requests, or one that a request asked for again
        /// was still running after ten seconds.
        case overloaded
        /// The store cannot be reached. The intent may have run; its event will then be in the stream.
        case storeUnavailable = "store_unavailable"
        /// The session has no owner, or is not open to the caller.
        case sessionMismatch = "session_mismatch"
    }

    /// The reason.
    package let code: Code
    /// One sentence for the agent's developer; fixed text.
    package let message: String
    /// The id of the intent, if it could be read.
    package let intentID: String?

    init(_ code: Code, _ message: String, intentID: String? = nil) {
        self.code = code
        self.message = message
        self.intentID = intentID
    }

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }

    package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

/// The messages of the agent protocol: one JSON object per text frame.
enum AgentProtocol {
    /// Parses an intent.
    /// - Parameter isFrame: whether it came over a socket, where `type` and `id` are required. In a request body they
    ///   are optional.
    ///
    /// - Throws: ``AgentFault/Code/payloadTooLarge`` or ``AgentFault/Code/invalidRequest``. The fault has the intent's
    ///   id if that could be read before.
    static func intent(
        _ bytes: some Collection<UInt8>, isFrame: Bool, limits: AgentLimits
    ) throws(AgentFault) -> Intent {
        guard bytes.count <= limits.maxMessage else {
            throw AgentFault(.payloadTooLarge, "The message is too long.")
        }
        let message = try self.object(bytes, limits: limits)
        let type = message["type"]?.stringValue
        guard type == "intent" || (!isFrame && message["type"] == nil) else {
            throw AgentFault(.invalidRequest, "type must be \"intent\".")
        }
        let id = try self.id(message["id"], isRequired: isFrame)
        guard let name = message["intent"]?.stringValue, isName(name) else {
            throw AgentFault(.invalidRequest, "intent must be 1 to 64 characters.", intentID: id)
        }
        guard let params = message["params"] else { return Intent(id: id, name: name, params: JSONObject()) }
        guard let object = params.objectValue else {
            throw AgentFault(.invalidRequest, "params must be an object.", intentID: id)
        }
        return Intent(id: id, name: name, params: object)
    }

    private static func object(
        _ bytes: some Collection<UInt8>, limits: AgentLimits
    ) throws(AgentFault) -> JSONObject {
        do throws(JSONError) {
            return try StrictJSON.object(
                bytes, limits: JSONLimits(maxBytes: limits.maxMessage, maxStringBytes: limits.maxMessage))
        } catch {
            let isTooDeep = error.code == .tooDeep
            throw AgentFault(
                .invalidRequest,
                isTooDeep ? "The message is nested too deep." : "The message is not one JSON object.")
        }
    }

    private static func id(_ value: JSONValue?, isRequired: Bool) throws(AgentFault) -> String {
        if value == nil, !isRequired { return "auto-" + Base64URL.encode(SecureRandom.bytes(16)) }
        guard let id = value?.stringValue, isName(id) else {
            throw AgentFault(.invalidRequest, "id must be 1 to 64 characters.")
        }
        return id
    }

    /// Whether the text has 1 to 64 characters and no control characters.
    private static func isName(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        return (1...64).contains(scalars.count) && scalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }

    // MARK: Messages to the agent

    /// The first message on every socket.
    ///
    /// - Parameter firstSeq: the number of the oldest event that is kept, if events that the client asked for are no
    ///   longer kept; nil if nothing is lost.
    static func ready(_ permit: Permit, lastSeq: Int64, lostBefore firstSeq: Int64?) -> String {
        var message: JSONObject = [
            "type": "ready",
            "session": [
                "state": .string(permit.state.rawValue),
                "tenant_id": permit.tenantID.map(JSONValue.string) ?? .null,
                "user_id": permit.userID.map(JSONValue.string) ?? .null,
            ],
            "last_seq": .number(JSONNumber(lastSeq)),
        ]
        if let firstSeq {
            message["lost"] = true
            message["first_seq"] = .number(JSONNumber(firstSeq))
        }
        return JSONValue.object(message).serialized()
    }

    /// A message of the session's stream.
    static func event(seq: Int64, intentID: String, outcome: RealmOutcome) -> String {
        var message: JSONObject = [
            "type": "event", "seq": .number(JSONNumber(seq)), "id": .string(intentID),
        ]
        switch outcome {
        case .result(let data):
            message["event"] = "result"
            message["data"] = data
        case .failure(let code, let text):
            message["event"] = "error"
            message["error"] = ["code": .string(code), "message": .string(text)]
        }
        return JSONValue.object(message).serialized()
    }

    /// A message outside the stream, for a message that is not an intent or was refused.
    static func fault(_ fault: AgentFault) -> String {
        var message: JSONObject = ["type": "error"]
        if let id = fault.intentID { message["id"] = .string(id) }
        message["error"] = ["code": .string(fault.code.rawValue), "message": .string(fault.message)]
        return JSONValue.object(message).serialized()
    }
}
