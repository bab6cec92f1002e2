import Encodings
import Libcrypto

/// The id of a JSON-RPC request: a string, or an integer (Model Context Protocol, "Requests").
package enum RPCID: Sendable, Equatable {
    case number(Int64)
    case string(String)

    /// The longest string in bytes.
    package static let maximumBytes = 256

    /// Reads an id; nil for anything else, `null` among it.
    init?(_ value: JSONValue?) {
        switch value {
        case .number(let number)?:
            guard let number = number.int64 else { return nil }
            self = .number(number)
        case .string(let text)?:
            guard (1...Self.maximumBytes).contains(text.utf8.count) else { return nil }
            self = .string(text)
        default: return nil
        }
    }

    /// The id as it is answered.
    package var json: JSONValue {
        switch self {
        case .number(let number): .integer(number)
        case .string(let text): .string(text)
        }
    }

    /// The id in the characters of base64url, one text for each id.
    package var token: String {
        switch self {
        case .number(let number): "n\(number)"
        case .string(let text): "s" + Base64URL.encode(Array(text.utf8))
        }
    }

    /// Reads what ``token`` has written.
    package init?(token: some StringProtocol) {
        let rest = String(token.dropFirst())
        switch token.first {
        case "n":
            guard let number = Int64(rest), String(number).hasSameBytes(as: rest) else { return nil }
            self = .number(number)
        case "s":
            guard let bytes = Base64URL.decode(rest), (1...Self.maximumBytes).contains(bytes.count),
                let text = String(validating: bytes, as: UTF8.self)
            else { return nil }
            self = .string(text)
        default: return nil
        }
    }

    /// The id of the intent that the request is in its session: requests with the same id are the same intent.
    package var intentID: String {
        "mcp-" + (token.utf8.count <= 44 ? token : "d" + Base64URL.encode(Digest.sha256(Array(token.utf8))))
    }
}

/// One JSON-RPC message of a client.
package enum RPCMessage: Sendable, Equatable {
    case request(RPCRequest)
    /// A message without an id, which has no answer.
    case notification(method: String)
    /// The answer to a request; this server sends none.
    case response
}

/// A JSON-RPC request.
package struct RPCRequest: Sendable, Equatable {
    /// Its id.
    package let id: RPCID
    /// The method.
    package let method: String
    /// The parameters; empty if there were none.
    package let params: JSONObject
}

/// Why a message is answered with an error (JSON-RPC 2.0 section 5.1).
package struct RPCFault: Error, Sendable, Equatable {
    /// The codes of JSON-RPC 2.0 and of the Model Context Protocol.
    package enum Code: Int64, Sendable {
        case parseError = -32700
        case invalidRequest = -32600
        case methodNotFound = -32601
        case invalidParams = -32602
        case internalError = -32603
        /// A header field does not say the same as the body.
        case headerMismatch = -32020
        case unsupportedVersion = -32022
    }
    /// The kind of fault.
    package let code: Code
    /// Fixed text for the client.
    package let message: String
    /// The request; nil if its id could not be read.
    package var id: RPCID?
    /// The revision that was asked for, where it is not supported.
    package var requestedVersion: String?

    package init(_ code: Code, _ message: String, id: RPCID? = nil, requestedVersion: String? = nil) {
        self.code = code
        self.message = message
        self.id = id
        self.requestedVersion = requestedVersion
    }

    /// The HTTP status, where no stream has begun: 400 for a message that can't be used.
    package func status(_ era: ToolEra) -> Int {
        switch code {
        case .parseError, .invalidRequest, .headerMismatch, .unsupportedVersion: 400
        case .methodNotFound: era == .single ? 404 : 200
        case .invalidParams: era == .single ? 400 : 200
        case .internalError: 200
        }
    }

    /// Equality of the codes.
    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}

/// The messages of one request body.
package enum RPCBody: Sendable, Equatable {
    case one(RPCMessage)
    /// A batch, which only the revision 2025-03-26 knows.
    case many([RPCMessage])

    /// The largest body in bytes.
    package static let maximumBytes = 65_536
    /// The most messages of a batch.
    package static let maximumMessages = 16

    /// Reads a body.
    package init(_ bytes: [UInt8]) throws(RPCFault) {
        let value: JSONValue
        do {
            value = try StrictJSON.parse(
                bytes, limits: JSONLimits(maxBytes: Self.maximumBytes, maxStringBytes: Self.maximumBytes))
        } catch {
            throw RPCFault(.parseError, "The body is not JSON, or exceeds a limit.")
        }
        switch value {
        case .object(let object): self = .one(try RPCMessage(object))
        case .array(let list):
            guard (1...Self.maximumMessages).contains(list.count) else {
                throw RPCFault(.invalidRequest, "A batch has 1 to \(Self.maximumMessages) messages.")
            }
            var messages: [RPCMessage] = []
            for element in list {
                guard case .object(let object) = element else { throw RPCMessage.malformed }
                messages.append(try RPCMessage(object))
            }
            self = .many(messages)
        default: throw RPCMessage.malformed
        }
    }
}

extension RPCMessage {
    static let malformed = RPCFault(.invalidRequest, "This is no JSON-RPC 2.0 message.")

    init(_ object: JSONObject) throws(RPCFault) {
        guard object["jsonrpc"]?.stringValue?.hasSameBytes(as: "2.0") == true else { throw Self.malformed }
        let id = RPCID(object["id"])
        guard let method = object["method"] else {
            guard object["result"] != nil || object["error"] != nil else { throw Self.malformed }
            self = .response
            return
        }
        guard let name = method.stringValue, (1...128).contains(name.utf8.count),
            object["id"] == nil || id != nil
        else { throw Self.malformed }
        guard let id else {
            self = .notification(method: name)
            return
        }
        guard let params = object["params"] else {
            self = .request(RPCRequest(id: id, method: name, params: JSONObject()))
            return
        }
        guard let params = params.objectValue else {
            throw RPCFault(.invalidRequest, "'params' is an object.", id: id)
        }
        self = .request(RPCRequest(id: id, method: name, params: params))
    }
}

/// JSON-RPC messages to a client, as text.
package enum RPCText {
    /// The answer to a request.
    package static func response(_ id: RPCID, _ result: JSONObject) -> JSONObject {
        ["jsonrpc": "2.0", "id": id.json, "result": .object(result)]
    }

    /// The answer to a request or message that is refused.
    package static func error(_ fault: RPCFault) -> JSONObject {
        var error: JSONObject = ["code": .integer(fault.code.rawValue), "message": .string(fault.message)]
        if let requested = fault.requestedVersion {
            error["data"] = [
                "supported": .array(ToolEra.supported.map { .string($0) }), "requested": .string(requested),
            ]
        }
        return ["jsonrpc": "2.0", "id": fault.id?.json ?? .null, "error": .object(error)]
    }

    /// A notification.
    package static func notification(_ method: String, _ params: JSONObject) -> JSONObject {
        ["jsonrpc": "2.0", "method": .string(method), "params": .object(params)]
    }
}
