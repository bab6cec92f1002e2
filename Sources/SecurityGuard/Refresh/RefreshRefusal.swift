/// The refusal of a refresh token.
package struct RefreshRefusal: Sendable, Equatable {
    /// The reason, for the audit log and `errors.explain` only.
    package let reason: String
    /// The family that was ended, because a used token was presented or the home session has ended; otherwise nil.
    package let endedFamily: String?
    /// The ids of the sessions that ended with it, whose sockets must close.
    package let endedSessions: [String]

    package init(reason: String, endedFamily: String?, endedSessions: [String]) {
        self.reason = reason
        self.endedFamily = endedFamily
        self.endedSessions = endedSessions
    }
}
