/// The format of an endpoint's refusals.
package enum RefusalForm: Sendable {
    /// RFC 9457, `application/problem+json`.
    case problem
    /// RFC 6749 section 5.2, `{error, error_description}`.
    case oauth

    /// The format for the path of an endpoint: OAuth's are below `/oauth2/`.
    package init(path: String) {
        self = path.utf8.starts(with: "/oauth2/".utf8) ? .oauth : .problem
    }
}

/// A refusal in the form in which it is sent.
package struct RefusalAnswer: Sendable {
    package let status: Int
    /// The header fields, except `Content-Length`, `Date` and `Connection`.
    package let fields: [(name: String, value: String)]
    package let body: [UInt8]

    /// - Parameter explain: whether the client is told the reason (`errors.explain`).
    package init(_ problem: Problem, as form: RefusalForm, requestID: String, explain: Bool) {
        switch form {
        case .oauth: self.init(OAuthProblem(problem), explain: explain)
        case .problem:
            self.init(
                status: problem.status, fields: problem.answerHeaders(),
                body: problem.body(requestID: requestID, explain: explain))
        }
    }

    /// A refusal with a code of OAuth.
    package init(_ refusal: OAuthProblem, explain: Bool) {
        self.init(
            status: refusal.problem.status, fields: refusal.answerHeaders(), body: refusal.body(explain: explain))
    }

    private init(status: Int, fields: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}
