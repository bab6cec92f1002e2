/// How often one caller may do a limited thing, per minute.
package struct RateLimits: Sendable, Equatable {
    /// Whether anything is limited at all.
    package var enabled: Bool
    /// Anonymous sessions made from one address bucket.
    package var anonymousPerMinute: Int
    /// Failed logins from one address bucket on one account. From one bucket on all accounts together, ten times as
    /// many.
    package var loginPerMinute: Int

    /// The limits given; the defaults are those of the configuration file.
    package init(enabled: Bool = true, anonymousPerMinute: Int = 600, loginPerMinute: Int = 10) {
        self.enabled = enabled
        self.anonymousPerMinute = anonymousPerMinute
        self.loginPerMinute = loginPerMinute
    }

    /// How many are allowed per minute. A caller that has done nothing for a minute may do as many at once.
    package func perMinute(_ limit: Limit) -> Int {
        switch limit {
        case .anonymousSession: anonymousPerMinute
        case .loginByAccount: loginPerMinute
        case .loginByAddress: loginPerMinute.multipliedReportingOverflow(by: 10).partialValue
        }
    }
}

/// The things that are limited. Each has its own buckets: the same key under two limits is counted separately.
package enum Limit: String, Sendable, Hashable, CaseIterable {
    /// Making an anonymous session, by address bucket.
    case anonymousSession
    /// Logging in to one account from one address bucket.
    case loginByAccount
    /// Logging in from one address bucket, to any account.
    case loginByAddress
}

/// Whether a limit lets something through.
package enum RateDecision: Sendable, Equatable {
    /// Within the limit.
    case allowed
    /// Over the limit; the seconds, at least 1, after which a retry can succeed.
    case limited(retryAfterSeconds: Int)

    /// Whether the answer is ``allowed``.
    package var isAllowed: Bool { self == .allowed }
}
