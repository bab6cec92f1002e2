/// Why something was not done to, or told of, a session.
package struct SessionFault: Error, Sendable, Hashable {
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// Unknown, somebody else's, or proved with something that no longer counts: never says which.
        case mismatch = "session_mismatch"
        /// It has or got another owner, or changed while this was going on.
        case conflict = "session_conflict"
        case ended = "session_ended"
        case expired = "session_expired"
        /// Metadata that is no JSON object, or too large.
        case invalidMetadata = "invalid_metadata"
    }

    package let code: Code

    package init(_ code: Code) {
        self.code = code
    }

    static let mismatch = SessionFault(.mismatch)
    static let conflict = SessionFault(.conflict)
    static let ended = SessionFault(.ended)
    static let expired = SessionFault(.expired)
    static let invalidMetadata = SessionFault(.invalidMetadata)
}
