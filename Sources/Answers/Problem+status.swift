/// What the status of a refusal depends on besides its code.
package enum ProblemCircumstance: Sendable, Equatable {
    /// Only the code.
    case usual
    /// The message did not arrive in time (RFC 9110 section 15.5.9).
    case late
    /// The body has no announced length, and only one with it is taken (RFC 9110 section 15.5.12).
    case lengthMissing
    /// The request was meant for another host (RFC 9110 section 15.5.20).
    case foreignHost
    /// The request target is too long (RFC 9110 section 15.5.15).
    case targetTooLong
    /// `Expect` has an unsupported expectation (RFC 9110 section 15.5.18).
    case expectation
    /// The transfer coding is not supported (RFC 9112 section 6.1).
    case unknownTransferCoding
    /// The version of HTTP is not supported (RFC 9110 section 15.6.6).
    case version
    /// Another account already has the e-mail.
    case emailTaken
    /// The caller has to sign in again, later or more strongly (RFC 9470).
    case stepUp
    /// The answer of the decision endpoint to a proxy, which understands only 401 and 403 as refusals.
    case decision
    /// The same, if the fault is in the proxy's description of the request and not in the credentials.
    case forwarding
}

/// The table of all statuses. It has no `default`, so that a new code or circumstance does not compile without a
/// status.
extension ProblemCode {
    /// The status of the answer. Only ``ProblemCircumstance/usual`` and ``ProblemCircumstance/decision`` look at the
    /// code.
    func status(_ circumstance: ProblemCircumstance) -> Int {
        switch circumstance {
        case .usual: usualStatus
        case .stepUp: 401
        case .late: 408
        case .emailTaken: 409
        case .lengthMissing: 411
        case .targetTooLong: 414
        case .expectation: 417
        case .foreignHost: 421
        case .unknownTransferCoding: 501
        case .version: 505
        case .decision: decisionStatus
        case .forwarding: 403
        }
    }

    private var usualStatus: Int {
        switch self {
        case .invalidRequest, .unknownMember, .credentialsSwapped, .sessionTokenUnsupported, .badMessage,
            .loginStateInvalid:
            400
        case .credentialsMissing, .invalidCredentials, .invalidToken, .tokenExpired, .invalidGrant: 401
        case .insufficientScope, .originRefused, .sessionMismatch, .identityMismatch, .notAllowed: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .sessionConflict: 409
        case .sessionEnded, .sessionExpired: 410
        case .payloadTooLarge: 413
        case .unsupportedMediaType: 415
        case .upgradeRequired: 426
        case .rateLimited: 429
        case .headerTooLarge: 431
        case .upstreamUnavailable, .providerUnavailable: 502
        case .overloaded, .storeUnavailable: 503
        case .upstreamTimeout: 504
        }
    }

    /// The status for a decision. 401 for what another request or other credentials could change, whatever 4xx it is
    /// elsewhere; 403 for a caller who may not, and for a path or method without a route and a limit, which other
    /// credentials would not change. Faults of the server keep their status.
    private var decisionStatus: Int {
        switch self {
        case .invalidRequest, .unknownMember, .credentialsSwapped, .sessionTokenUnsupported, .badMessage,
            .credentialsMissing, .invalidCredentials, .invalidToken, .tokenExpired, .invalidGrant, .sessionConflict,
            .sessionEnded, .sessionExpired, .payloadTooLarge, .unsupportedMediaType, .upgradeRequired, .headerTooLarge,
            .loginStateInvalid:
            401
        case .insufficientScope, .originRefused, .sessionMismatch, .identityMismatch, .notFound, .methodNotAllowed,
            .notAllowed, .rateLimited:
            403
        case .upstreamUnavailable, .providerUnavailable: 502
        case .overloaded, .storeUnavailable: 503
        case .upstreamTimeout: 504
        }
    }
}

extension Problem {
    /// The same refusal as an answer of the decision endpoint. A circumstance with a status of its own that a proxy has
    /// to see, such as 421 or 501, stays as it is.
    package var asDecision: Problem {
        switch circumstance {
        case .usual, .late, .emailTaken, .lengthMissing, .targetTooLong, .expectation:
            var refusal = Problem(code, .decision, detail: detail, reason: reason)
            refusal.headers = headers
            refusal.caller = caller
            return refusal
        case .foreignHost, .unknownTransferCoding, .version, .decision, .forwarding, .stepUp: return self
        }
    }

    /// A live session cookie together with the secret of another session in `Session-Secret`.
    package static var twoSecrets: Problem {
        Problem(
            .invalidRequest, detail: "The session cookie and Session-Secret name two different sessions.",
            reason: "two_session_secrets")
    }
}
