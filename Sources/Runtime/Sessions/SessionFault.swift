/// Why an operation on a session is refused.
package struct SessionFault: Error, Sendable, Hashable {
    /// The reasons.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// It is unknown or another user's, or the proof is no longer valid. The answer does not say which.
        case mismatch = "session_mismatch"
        /// It has another owner, or was changed at the same time.
        case conflict = "session_conflict"
        /// It was ended, by its owner, an operator or an event of its account.
        case ended = "session_ended"
        /// It was unused for too long, or has reached its longest lifetime.
        case expired = "session_expired"
        /// The metadata is not a JSON object, or too large.
        case invalidMetadata = "invalid_metadata"
    }

    /// The reason.
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
