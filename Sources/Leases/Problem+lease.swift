import Answers

extension Problem {
    /// The refusal of a request whose lease was over before its answer or its socket began.
    package init(endedBeforeUse end: LeaseEnd) {
        switch end {
        case .tokenExpired, .lifetimeOver: self.init(.tokenExpired, reason: "expired")
        case .tokenRevoked: self.init(.invalidToken, reason: "revoked")
        case .sessionEnded, .sessionUpgraded, .endedByOperator: self.init(.sessionMismatch, reason: end.word)
        case .notAllowed: self.init(.notAllowed)
        case .draining, .storeLost, .routeGone: self.init(.storeUnavailable, reason: end.word)
        }
    }
}
