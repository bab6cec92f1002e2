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

    /// Whether streams begin with an event that has an id and no data, so that they can be resumed from their
    /// beginning.
    package var primesStreams: Bool {
        guard case .sessions(let version) = self else { return false }
        return version.hasSameBytes(as: "2025-11-25")
    }
}
