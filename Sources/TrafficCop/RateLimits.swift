/// How much of what one caller may do in a minute.
package struct RateLimits: Sendable, Equatable {
    /// False lifts every limit.
    package var enabled: Bool
    /// Anonymous sessions made from one address.
    package var anonymousPerMinute: Int
    /// Failed logins from one address on one account; ten times that from one address on any account.
    package var loginPerMinute: Int

    package init(enabled: Bool = true, anonymousPerMinute: Int = 600, loginPerMinute: Int = 10) {
        self.enabled = enabled
        self.anonymousPerMinute = anonymousPerMinute
        self.loginPerMinute = loginPerMinute
    }

    /// How many are allowed in a minute, and at once.
    package func perMinute(_ limit: Limit) -> Int {
        switch limit {
        case .anonymousSession: self.anonymousPerMinute
        case .loginByAccount: self.loginPerMinute
        case .loginByAddress: self.loginPerMinute.multipliedReportingOverflow(by: 10).partialValue
        }
    }
}

/// The things that are counted. Each has buckets of its own: a key of one is never a key of another.
package enum Limit: String, Sendable, Hashable, CaseIterable {
    case anonymousSession
    case loginByAccount
    case loginByAddress
}

/// The answer of a limit.
package enum RateDecision: Sendable, Equatable {
    case allowed
    case limited(retryAfterSeconds: Int)

    package var isAllowed: Bool { self == .allowed }
}
