import OAuth
import Runtime
import SecurityGuard
import SignIn
import StateSurface
import TrafficCop

/// Translates the faults of other modules to answers for clients.
extension Problem {
    /// The problem for any error. An unexpected error becomes `overloaded`, without an explanation. Used where an
    /// endpoint has thrown; what it returns is what the client gets and the audit log records.
    package static func from(_ error: any Error) -> Problem {
        switch error {
        case let problem as Problem: problem
        case let fault as SessionFault: Problem(fault)
        case let fault as TokenFault: Problem(fault)
        case let fault as AuthError: Problem(fault)
        case let denial as Denial: Problem(denial)
        case let fault as SignInFault: Problem(fault)
        case let fault as PasskeyFault: Problem(fault)
        case let fault as AgentFault: Problem(fault)
        case let fault as AgentAccessFault: Problem(fault)
        case let fault as StateSurfaceError where fault.code == .ownerGone:
            Problem(.invalidToken, reason: "ended_meanwhile")
        case let fault as StateSurfaceError: Problem(.storeUnavailable, reason: "store_\(fault.code.rawValue)")
        case let fault as OAuthFault: Problem(fault)
        default: Problem(.overloaded, reason: unexpectedReason)
        }
    }

    /// The reason of a problem for an unexpected error.
    package static let unexpectedReason = "unexpected"

    /// 403, 409 or 410, or 400 for metadata. An unknown session, one of another owner and an old secret are all
    /// `mismatch`.
    package init(_ fault: SessionFault) {
        switch fault.code {
        case .mismatch: self.init(.sessionMismatch)
        case .conflict: self.init(.sessionConflict)
        case .ended: self.init(.sessionEnded)
        case .expired: self.init(.sessionExpired)
        case .invalidMetadata:
            self.init(
                .invalidRequest, detail: "'metadata' must be an object of at most 1 KiB.", reason: "metadata_refused")
        }
    }

    /// 401. The reason says what is wrong with the token, and only `errors.explain` shows it to the client.
    package init(_ fault: TokenFault) {
        switch fault.code {
        case .invalidToken: self.init(.invalidToken, reason: fault.reason)
        case .tokenExpired: self.init(.tokenExpired, reason: fault.reason)
        }
    }

    /// Two of the codes become the same `not_found`: a closed registration, and an account that does not exist.
    package init(_ fault: AuthError) {
        switch fault.code {
        case .invalidCredentials: self.init(.invalidCredentials)
        case .overloaded: self.init(.overloaded, reason: "hashing_queue_full")
        case .invalidRequest: self.init(.invalidRequest, detail: "Refused: \(fault.detail).", reason: "account_rule")
        case .emailTaken:
            self.init(.invalidRequest, .emailTaken, detail: "This e-mail is taken.", reason: "email_taken")
        case .registrationClosed, .notFound: self.init(.notFound)
        case .conflict:
            self.init(.overloaded, detail: "The account was changed at the same moment. Try again.", reason: "conflict")
        }
    }

    /// 401: a refresh token that is not accepted, or an access token that was revoked during the sign-in.
    package init(_ fault: SignInFault) {
        switch fault.code {
        case .invalidGrant: self.init(.invalidGrant, reason: fault.reason)
        case .tokenRevoked: self.init(.invalidToken, reason: fault.reason)
        }
    }

    /// 400, or 404 for a passkey that is not the caller's. The reason of a refused ceremony is not in the detail.
    package init(_ fault: PasskeyFault) {
        switch fault.code {
        case .refused:
            self.init(.invalidRequest, detail: "This passkey can't be registered. Begin again.", reason: fault.reason)
        case .tooMany:
            self.init(
                .invalidRequest, detail: "The account has as many passkeys as it may have. Remove one first.",
                reason: fault.reason)
        case .nameMalformed:
            self.init(
                .invalidRequest, detail: "'name' must have 1 to 64 bytes, without control characters.",
                reason: fault.reason)
        case .unknown: self.init(.notFound)
        }
    }

    /// Why the Runtime did not answer an intent: 400, 403, 413 or 503.
    package init(_ fault: AgentFault) {
        switch fault.code {
        case .invalidRequest: self.init(.invalidRequest, detail: fault.message, reason: "intent_refused")
        case .payloadTooLarge: self.init(.payloadTooLarge)
        case .overloaded: self.init(.overloaded, reason: "intents_full")
        case .storeUnavailable: self.init(.storeUnavailable)
        case .sessionMismatch: self.init(.sessionMismatch)
        }
    }

    /// The hourly limits answer with `Retry-After: 3600`, the longest that one of them can last.
    package init(_ fault: AgentAccessFault) {
        switch fault.code {
        case .invalidRequest, .consentUnknown:
            self.init(.invalidRequest, detail: fault.detail, reason: fault.code.rawValue)
        case .insufficientScope: self.init(.insufficientScope, detail: fault.detail)
        case .notFound: self.init(.notFound, detail: fault.detail)
        case .rateLimited:
            self.init(
                .rateLimited, detail: fault.detail, reason: "hourly_limit",
                headers: [(name: "Retry-After", value: "3600")])
        }
    }

    /// 429 for a limit of one caller; 503 for everything else. `Retry-After` is in seconds and at least 1.
    package init(_ denial: Denial) {
        let seconds = max(1, denial.retryAfterSeconds ?? 1)
        let retry = [(name: "Retry-After", value: String(seconds))]
        switch denial.code {
        case .rateLimited: self.init(.rateLimited, reason: "rate_limited", headers: retry)
        // The others are internal faults, which a client cannot correct.
        case .intentUnknown, .contractMismatch, .contractExpired, .contractForged, .contractReplayed, .overloaded:
            self.init(.overloaded, reason: denial.code.rawValue, headers: retry)
        }
    }
}
