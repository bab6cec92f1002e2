import Encodings

/// The header fields that repeat parts of a request of the revision without sessions.
package struct ToolHeaders: Sendable {
    /// `MCP-Protocol-Version`.
    package var version: String?
    /// `Mcp-Method`.
    package var method: String?
    /// `Mcp-Name`.
    package var name: String?

    package init(version: String?, method: String?, name: String?) {
        self.version = version
        self.method = method
        self.name = name
    }

    /// Refuses a request whose header fields say something else than its body, or which lacks the members that every
    /// request has in that revision.
    package func check(_ request: RPCRequest) throws(RPCFault) {
        let meta = request.params["_meta"]?.objectValue
        guard let meta, let bodyVersion = meta["io.modelcontextprotocol/protocolVersion"]?.stringValue,
            meta["io.modelcontextprotocol/clientCapabilities"]?.objectValue != nil
        else {
            throw RPCFault(
                .invalidParams, "'params._meta' says protocolVersion and clientCapabilities.", id: request.id)
        }
        try require(version, bodyVersion, "MCP-Protocol-Version", request.id)
        try require(method, request.method, "Mcp-Method", request.id)
        if let named = request.params["name"]?.stringValue, request.method.hasSameBytes(as: "tools/call") {
            try require(name, named, "Mcp-Name", request.id)
        }
    }

    private func require(_ field: String?, _ body: String, _ name: String, _ id: RPCID) throws(RPCFault) {
        guard field?.hasSameBytes(as: body) == true else {
            throw RPCFault(.headerMismatch, "\(name) does not say what the body says.", id: id)
        }
    }
}
