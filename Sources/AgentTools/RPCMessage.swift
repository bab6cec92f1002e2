import Encodings

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
