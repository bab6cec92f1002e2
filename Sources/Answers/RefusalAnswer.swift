/// The format of an endpoint's refusals.
package enum RefusalForm: Sendable {
    /// RFC 9457, `application/problem+json`.
    case problem
    /// RFC 6749 section 5.2, `{error, error_description}`.
    case oauth
    /// A problem that has these two members as well, for a provider that announces a logout (OpenID Connect Back-Channel
    /// Logout 1.0 section 2.8).
    case problemWithError
    /// A page for a person.
    case page

    /// The format for the path of an endpoint: OAuth's are below `/oauth2/` (two have another name at the root); a person
    /// who is on the way to a provider or back gets a page.
    /// - Parameter isNavigation: whether a browser asked, to show the answer.
    package init(path: String, isNavigation: Bool = false) {
        let begins = { (prefix: String) in path.utf8.starts(with: prefix.utf8) }
        let isRoot = path == "/register" || path == "/authorize"
        if begins("/oauth2/") || isRoot {
            self = .oauth
        } else if begins("/api/auth/backchannel/") {
            self = .problemWithError
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
    ///   - form: that of the path. A refusal with a code of OAuth is told in OAuth's form or with its members everywhere.
    ///   - explain: whether the client is told the reason (`errors.explain`).
    package init(_ problem: Problem, as form: RefusalForm, requestID: String, explain: Bool) {
        switch problem.oauthCode == nil || form == .problemWithError ? form : .oauth {
        case .oauth:
            self.init(
                status: problem.status, fields: problem.oauthHeaders(), body: problem.oauthBody(explain: explain))
        case .problem:
            self.init(
                status: problem.status, fields: problem.answerHeaders(),
                body: problem.body(requestID: requestID, explain: explain))
        case .problemWithError:
            var problem = problem
            problem.members += problem.oauthMembers
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
