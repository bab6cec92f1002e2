import Encodings
import OAuth
import SecurityGuard

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

    /// The reason; where there is none, the code says all that is known.
    package var reasonOrCode: String { reason ?? code.rawValue }

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
        if explain { object["reason"] = .string(reasonOrCode) }
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
