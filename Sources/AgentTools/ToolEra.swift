import Encodings

/// How a request is served: by the revisions of the Model Context Protocol with sessions, or by itself.
package enum ToolEra: Sendable, Equatable {
    /// The revisions that begin with `initialize` and have a session.
    case sessions(version: String)
    /// The revision in which every request stands alone.
    case single

    /// The revisions with sessions, newest first.
    package static let withSessions = ["2025-11-25", "2025-06-18", "2025-03-26"]
    /// The revision without.
    package static let withoutSessions = "2026-07-28"
    /// All of them, newest first.
    package static var supported: [String] { [withoutSessions] + withSessions }
    /// The revision of a request that does not say it (Streamable HTTP, "Protocol Version Header").
    private static let assumed = "2025-03-26"

    /// Of the value of `MCP-Protocol-Version`; nil for a request without one.
    package init(version: String?) throws(RPCFault) {
        guard let version else {
            self = .sessions(version: Self.assumed)
            return
        }
        if version.hasSameBytes(as: Self.withoutSessions) {
            self = .single
        } else if let known = Self.withSessions.first(where: { $0.hasSameBytes(as: version) }) {
            self = .sessions(version: known)
        } else {
            throw RPCFault(.unsupportedVersion, "Unsupported protocol version", requestedVersion: version)
        }
    }

    /// Whether a body may be a batch: only in the revision 2025-03-26.
    package var allowsBatch: Bool { self == .sessions(version: Self.assumed) }

    /// Whether streams begin with an event that has an id and no data, so that they can be resumed from their beginning.
    package var primesStreams: Bool {
        guard case .sessions(let version) = self else { return false }
        return version.hasSameBytes(as: "2025-11-25")
    }
}

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
