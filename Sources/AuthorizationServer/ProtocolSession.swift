/// The rules for `Mcp-Session-Id` (Model Context Protocol, Streamable HTTP, "Session Management").
package enum ProtocolSession {
    /// The first revision of the protocol without sessions.
    package static let revisionWithout = "2026-07-28"
    /// How long a session is kept without use, in milliseconds: 30 days.
    package static let idle: Int64 = 30 * 86_400_000
    /// The longest id in bytes.
    package static let maximumIDBytes = 256

    /// What the fields of a request say.
    package enum Claim: Sendable, Equatable {
        /// The request is of a revision without sessions: the field is neither read nor forwarded.
        case ignored
        /// There is no session.
        case none
        /// The request belongs to this session.
        case one([UInt8])
        /// There are several.
        case many
        /// There is one with a malformed id, which no session has.
        case malformed
    }

    /// Reads the fields.
    /// - Parameters:
    ///   - ids: the values of `Mcp-Session-Id`.
    ///   - version: the value of `MCP-Protocol-Version`; nil if there is none or more than one.
    package static func claim(ids: [[UInt8]], version: [UInt8]?) -> Claim {
        if let version, isWithoutSessions(version) { return .ignored }
        guard let id = ids.first else { return .none }
        guard ids.count == 1 else { return .many }
        return isID(id) ? .one(id) : .malformed
    }

    /// Whether a revision, written as a date, has no sessions.
    package static func isWithoutSessions(_ version: [UInt8]) -> Bool {
        guard version.count == 10,
            version.enumerated().allSatisfy({ index, byte in
                index == 4 || index == 7 ? byte == UInt8(ascii: "-") : (0x30...0x39).contains(byte)
            })
        else { return false }
        return !version.lexicographicallyPrecedes(revisionWithout.utf8)
    }

    /// Whether bytes are an id: 1 to 256 bytes of visible ASCII.
    package static func isID(_ bytes: [UInt8]) -> Bool {
        !bytes.isEmpty && bytes.count <= maximumIDBytes && bytes.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
