import Encodings
import OAuth
import SecurityGuard

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
        case .invalidCredentials: "E-mail or password is wrong"
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

/// A refusal or fault that is sent to a client: a problem of RFC 9457.
package struct Problem: Error, Sendable {
    /// What is wrong, from the closed list; it decides the status.
    package let code: ProblemCode
    /// The circumstance that the status depends on besides the code.
    package let circumstance: ProblemCircumstance
    /// The text for the client. It contains neither credentials nor ids.
    package let detail: String
    /// The reason, for the audit log and, with `errors.explain`, for the client.
    package let reason: String?
    /// Additional header fields of the answer.
    package var headers: [(name: String, value: String)]
    /// Further parameters of the challenge, each a name and a value without quotes.
    package var challenge: [(name: String, value: String)] = []
    /// Additional members of the body, after the fixed ones.
    package var members: [(name: String, value: JSONValue)] = []
    /// The sign-in that would help, for ``ProblemCircumstance/stepUp``.
    package var stepUp: StepUp?
    /// The code of OAuth that says what is wrong; nil for a refusal that is not one of OAuth's.
    package internal(set) var oauthCode: OAuthFault.Code?
    /// Whose request it is, where the token was accepted before something else was refused. For the logs; the client is
    /// not told.
    package internal(set) var caller: Principal?

    /// A refusal whose status follows from the code and the circumstance.
    ///
    /// - Parameter detail: nil for the code's own text. It goes to every client, so it names no credential and no id.
    /// - Parameter reason: a word for the audit log; nil for the usual one of the code.
    /// - Parameter headers: sent after the fields of every problem. A `Retry-After` here replaces the usual one.
    package init(
        _ code: ProblemCode, _ circumstance: ProblemCircumstance = .usual, detail: String? = nil, reason: String? = nil,
        headers: [(name: String, value: String)] = []
    ) {
        self.code = code
        self.circumstance = circumstance
        self.detail = detail ?? code.detail
        self.reason = reason ?? code.usualReason
        self.headers = headers
    }

    /// The same refusal, of a request whose token was accepted. The logs then name the caller, though the request was
    /// refused.
    package func asked(by caller: Principal) -> Problem {
        var refusal = self
        refusal.caller = caller
        return refusal
    }

    /// The HTTP status of the answer.
    package var status: Int { code.status(circumstance) }

    /// The body as `application/problem+json`. Members come in a fixed order, ``members`` after them, and `reason` last
    /// and only where `explain` is true.
    package func body(requestID: String, explain: Bool) -> [UInt8] {
        var object = JSONObject()
        object["type"] = .string("about:blank")
        object["title"] = .string(code.title)
        object["status"] = .number(JSONNumber(Int64(status)))
        object["code"] = .string(code.rawValue)
        object["detail"] = .string(detail)
        object["request_id"] = .string(requestID)
        for member in members { object[member.name] = member.value }
        if explain, let reason { object["reason"] = .string(reason) }
        return JSONValue.object(object).serializedBytes()
    }

    /// Whether the answer has a challenge: `WWW-Authenticate`. Every 401 must have one (RFC 9110 section 15.5.2), and
    /// RFC 6750 section 3.1 asks for one with `insufficient_scope`, too.
    package var isChallenging: Bool { status == 401 || code == .insufficientScope }

    /// The header fields of the answer, except `Content-Length`, `Date` and `Connection`. `Cache-Control: no-store`
    /// always; `Retry-After: 1` for `rate_limited`, `overloaded` and `store_unavailable`, unless ``headers`` has one.
    package func answerHeaders() -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = [
            ("Content-Type", "application/problem+json"), ("Cache-Control", "no-store"),
        ]
        if isChallenging {
            let error = stepUp?.challenge ?? code.challengeError.map { ", error=\"\($0)\"" } ?? ""
            let more = challenge.map { ", \($0.name)=\"\($0.value)\"" }.joined()
            fields.append(("WWW-Authenticate", "Bearer realm=\"gatehouse\"\(error)\(more)"))
        }
        // RFC 9110 section 15.5.22 and RFC 6455 section 4.2.2.
        if code == .upgradeRequired { fields += [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")] }
        let namesRetry = headers.contains { $0.name == "Retry-After" }
        if [.rateLimited, .overloaded, .storeUnavailable].contains(code), !namesRetry {
            fields.append(("Retry-After", "1"))
        }
        return fields + headers
    }
}
