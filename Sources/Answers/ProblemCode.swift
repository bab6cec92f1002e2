/// The codes of refusals. Their statuses are in `Problem+status.swift`.
package enum ProblemCode: String, Sendable, CaseIterable {
    case invalidRequest = "invalid_request"
    case unknownMember = "unknown_member"
    case credentialsMissing = "credentials_missing"
    case credentialsSwapped = "credentials_swapped"
    case sessionTokenUnsupported = "session_token_unsupported"
    case invalidCredentials = "invalid_credentials"
    case invalidToken = "invalid_token"
    case tokenExpired = "token_expired"
    case invalidGrant = "invalid_grant"
    case insufficientScope = "insufficient_scope"
    case originRefused = "origin_refused"
    case sessionMismatch = "session_mismatch"
    case sessionConflict = "session_conflict"
    case sessionEnded = "session_ended"
    case sessionExpired = "session_expired"
    case identityMismatch = "identity_mismatch"
    case notFound = "not_found"
    case methodNotAllowed = "method_not_allowed"
    case payloadTooLarge = "payload_too_large"
    case unsupportedMediaType = "unsupported_media_type"
    case headerTooLarge = "header_too_large"
    case badMessage = "bad_message"
    case upgradeRequired = "upgrade_required"
    case rateLimited = "rate_limited"
    case overloaded = "overloaded"
    case storeUnavailable = "store_unavailable"
    case upstreamUnavailable = "upstream_unavailable"
    case upstreamTimeout = "upstream_timeout"
    case loginStateInvalid = "login_state_invalid"
    case providerUnavailable = "provider_unavailable"
    case notAllowed = "not_allowed"

    /// A short human title, fixed per code.
    package var title: String {
        switch self {
        case .invalidRequest: "The request is not well formed"
        case .unknownMember: "The body has a member this endpoint does not know"
        case .credentialsMissing: "Credentials are needed"
        case .credentialsSwapped: "A credential of one kind was sent as another"
        case .sessionTokenUnsupported: "session_token is not a credential here"
        case .invalidCredentials: "The credentials are not accepted"
        case .invalidToken: "The access token is not accepted"
        case .tokenExpired: "The access token has expired"
        case .invalidGrant: "The refresh token is not accepted"
        case .insufficientScope: "The access token lacks a scope"
        case .originRefused: "Requests from this origin are not allowed"
        case .sessionMismatch: "The session is not yours to use"
        case .sessionConflict: "The session belongs to someone else"
        case .sessionEnded: "The session has ended"
        case .sessionExpired: "The session has expired"
        case .identityMismatch: "The body names another identity than the token"
        case .notFound: "Nothing is here"
        case .methodNotAllowed: "The method is not allowed here"
        case .payloadTooLarge: "The body is too large"
        case .unsupportedMediaType: "The body has a media type that is not taken here"
        case .headerTooLarge: "The request head is too large"
        case .badMessage: "The HTTP message is malformed"
        case .upgradeRequired: "The WebSocket version is not supported"
        case .rateLimited: "Too many requests"
        case .overloaded: "The gateway is busy"
        case .storeUnavailable: "The state store cannot be reached"
        case .upstreamUnavailable: "The upstream cannot be reached"
        case .upstreamTimeout: "The upstream did not answer in time"
        case .loginStateInvalid: "This sign-in can't be finished"
        case .providerUnavailable: "The identity provider can't be reached"
        case .notAllowed: "You are not allowed to use this"
        }
    }

    /// The default detail, fixed per code, so that faults with the same code cannot be distinguished.
    package var detail: String {
        switch self {
        case .credentialsMissing:
            "Send an access token as 'Authorization: Bearer', or the credential this endpoint takes."
        case .credentialsSwapped:
            "Access tokens, session ids, session secrets, refresh tokens and tickets are never interchangeable."
        case .sessionTokenUnsupported: "Send access_token and session_id; they are two different things."
        case .invalidCredentials: "E-mail or password is wrong."
        case .invalidToken: "Obtain a new access token and try again."
        case .tokenExpired: "Refresh the access token and try again."
        case .invalidGrant: "Log in again."
        case .sessionMismatch: "Use a session that was handed to you."
        case .sessionConflict: "Start a new session."
        case .sessionEnded, .sessionExpired: "Start a new session."
        case .loginStateInvalid:
            "It was finished before, took too long, or was begun in another browser or before another sign-in. "
                + "Begin again."
        case .providerUnavailable: "Try again later, or sign in another way."
        case .rateLimited, .overloaded, .storeUnavailable: "Try again after the time in Retry-After."
        default: title + "."
        }
    }

    /// The reason where none is given. A session that is unknown, of another owner or named with an old secret is
    /// refused for the same one, so that not even `errors.explain` tells them apart.
    var usualReason: String? {
        switch self {
        case .sessionMismatch: "session_not_opened"
        case .payloadTooLarge: "body_too_large"
        default: nil
        }
    }

    /// The `error` parameter of the Bearer challenge (RFC 6750 section 3.1); nil if no token was checked.
    var challengeError: String? {
        switch self {
        case .invalidToken, .tokenExpired: "invalid_token"
        case .insufficientScope: "insufficient_scope"
        default: nil
        }
    }
}
