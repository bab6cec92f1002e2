/// What the status of a refusal hangs on besides its code.
package enum ProblemCircumstance: Sendable, Equatable {
    /// Nothing: the code says it all.
    case usual
    /// The message did not arrive in time (RFC 9110 section 15.5.9).
    case late
    /// The request was meant for another host (RFC 9110 section 15.5.20).
    case foreignHost
    /// The request target is longer than any that is answered (RFC 9110 section 15.5.15).
    case targetTooLong
    /// `Expect` asks for what nothing here does (RFC 9110 section 15.5.18).
    case expectation
    /// A transfer coding that is not known (RFC 9112 section 6.1).
    case unknownTransferCoding
    /// A version of HTTP that is not spoken (RFC 9110 section 15.6.6).
    case version
    /// An account has the e-mail already.
    case emailTaken
    /// A proxy in front asks whether a request may pass: it knows no refusals but 401 and 403.
    case decision
    /// The same, where not the caller is at fault but what the proxy says of the request.
    case forwarding
}

/// The one table of statuses. It has no `default`: a new code or circumstance does not compile without its status.
extension ProblemCode {
    func status(_ circumstance: ProblemCircumstance) -> Int {
        switch circumstance {
        case .usual: usualStatus
        case .late: 408
        case .emailTaken: 409
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
        case .invalidRequest, .unknownMember, .credentialsSwapped, .sessionTokenUnsupported, .badMessage: 400
        case .credentialsMissing, .invalidCredentials, .invalidToken, .tokenExpired, .invalidGrant: 401
        case .insufficientScope, .originRefused, .sessionMismatch, .identityMismatch: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .sessionConflict: 409
        case .sessionEnded, .sessionExpired: 410
        case .payloadTooLarge: 413
        case .unsupportedMediaType: 415
        case .upgradeRequired: 426
        case .rateLimited: 429
        case .headerTooLarge: 431
        case .upstreamUnavailable: 502
        case .overloaded, .storeUnavailable: 503
        case .upstreamTimeout: 504
        }
    }

    /// What is 400 elsewhere is 401 here. A path or method that no route takes is nothing that credentials could mend.
    private var decisionStatus: Int {
        switch self {
        case .invalidRequest, .unknownMember, .credentialsSwapped, .sessionTokenUnsupported, .badMessage,
            .credentialsMissing, .invalidCredentials, .invalidToken, .tokenExpired, .invalidGrant, .sessionConflict,
            .sessionEnded, .sessionExpired, .payloadTooLarge, .unsupportedMediaType, .upgradeRequired, .rateLimited,
            .headerTooLarge:
            401
        case .insufficientScope, .originRefused, .sessionMismatch, .identityMismatch, .notFound, .methodNotAllowed: 403
        case .upstreamUnavailable: 502
        case .overloaded, .storeUnavailable: 503
        case .upstreamTimeout: 504
        }
    }
}

extension Problem {
    /// The refusal as a proxy in front is told it by the decision endpoint.
    package var asDecision: Problem {
        switch circumstance {
        case .usual, .late, .emailTaken, .targetTooLong, .expectation:
            var refusal = Problem(code, .decision, detail: detail, reason: reason)
            refusal.headers = headers
            return refusal
        case .foreignHost, .unknownTransferCoding, .version, .decision, .forwarding: return self
        }
    }

    /// A live session cookie beside the secret of another session in `Session-Secret`.
    package static var twoSecrets: Problem {
        Problem(
            .invalidRequest, detail: "The session cookie and Session-Secret name two different sessions.",
            reason: "two_session_secrets")
    }
}
