/// The format of an endpoint's refusals.
package enum RefusalForm: Sendable {
    /// RFC 9457, `application/problem+json`.
    case problem
    /// RFC 6749 section 5.2, `{error, error_description}`.
    case oauth
    /// A page for a person.
    case page

    /// The format for the path of an endpoint: OAuth's are below `/oauth2/` (two have another name at the root), and
    /// that of OpenID Connect is like them; a person who is on the way to a provider or back gets a page.
    /// - Parameter isNavigation: whether a browser asked, to show the answer.
    package init(path: String, isNavigation: Bool = false) {
        let begins = { (prefix: String) in path.utf8.starts(with: prefix.utf8) }
        let isRoot = path == "/register" || path == "/authorize"
        if begins("/oauth2/") || begins("/api/auth/backchannel/") || isRoot {
            self = .oauth
        } else if isNavigation, begins("/api/auth/login/") || begins("/api/auth/callback/") {
            self = .page
        } else {
            self = .problem
        }
    }
}

/// A refusal in the form in which it is sent.
package struct RefusalAnswer: Sendable {
    /// The status.
    package let status: Int
    /// The header fields, except `Content-Length`, `Date` and `Connection`.
    package let fields: [(name: String, value: String)]
    /// A problem, an OAuth error or a page, as the form asks.
    package let body: [UInt8]

    /// - Parameters:
    ///   - form: that of the path. A refusal with a code of OAuth is told in OAuth's form everywhere.
    ///   - explain: whether the client is told the reason (`errors.explain`).
    package init(_ problem: Problem, as form: RefusalForm, requestID: String, explain: Bool) {
        switch problem.oauthCode == nil ? form : .oauth {
        case .oauth:
            self.init(
                status: problem.status, fields: problem.oauthHeaders(), body: problem.oauthBody(explain: explain))
        case .problem:
            self.init(
                status: problem.status, fields: problem.answerHeaders(),
                body: problem.body(requestID: requestID, explain: explain))
        case .page:
            let others = problem.answerHeaders().filter { $0.name != "Content-Type" }
            self.init(
                status: problem.status, fields: ErrorPage.fields + others,
                body: ErrorPage.html(problem, requestID: requestID, explain: explain))
        }
    }

    private init(status: Int, fields: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}
