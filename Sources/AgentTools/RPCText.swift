import Encodings

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
