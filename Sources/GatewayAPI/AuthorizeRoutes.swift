import Answers
import AuthorizationServer
import EdgeConfiguration
import Encodings
import HTTPTypes
import IdentityProviders
import OAuth
import Runtime
import SignIn

/// `/oauth2/authorize`: a person lets a client have access (RFC 6749 section 4.1, RFC 7636, RFC 8707, RFC 9207).
///
/// Faults that leave nowhere to redirect to, and the question to the person, are pages; everything else is a redirect
/// to the client.
enum AuthorizeRoutes {
    /// Does not exist while there is no resource that access could be granted to.
    static let path = "/oauth2/authorize"
    /// The name under which clients look for it that don't read the metadata.
    static let rootPath = "/authorize"

    /// The gateway's own page, where no `login_url` names another.
    private static let signInPage = "/.gatehouse/sign-in"

    static let all = [
        APIRoute(.get, path, .ofOAuth, authorize), APIRoute(.post, path, .ofOAuth, decide),
        APIRoute(.get, rootPath, .ofOAuth, authorize),
    ]

    /// The request of a client: a redirect back to it, a page that asks the person, or the way to sign in first.
    ///
    /// Client and redirect URI are judged first. Until both are known to be right, no fault is sent to any address (RFC
    /// 6749 section 4.1.2.1).
    private static func authorize(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        try await page(call) {
            let parameters = try AuthorizationParameters(query: call.facts.query ?? "")
            let agents = call.services.agents
            let client = try await agents.client(id: parameters.clientID, address: call.facts.clientAddress)
            let uri = try parameters.redirectURI(of: client)
            let issuer = agents.settings.issuer
            let session = try await signedInSession(call)
            do {
                let request: JudgedAuthorization
                do {
                    request = try parameters.judge(
                        client: client, redirectURI: uri, resources: agents.settings.grantable)
                } catch let fault as OAuthFault {
                    // These clients have registered themselves: a link to this server must not lead to their pages
                    // before the person has signed in (RFC 9700 section 4.11.2).
                    guard session != nil || client.origin == .configured else {
                        return signIn(call, call.facts.query, nil)
                    }
                    throw fault
                }
                guard let session else { return signIn(call, call.facts.query, request.resource) }
                try call.services.requireStore()
                switch try await agents.authorize(request, client: client, session: session) {
                case .redirect(let location): return .redirect(to: location)
                case .ask(let question): return AgentPages.consent(question, action: path)
                }
            } catch let fault as OAuthFault {
                return .redirect(
                    to: AuthorizationRedirect.location(uri, fault: fault, state: parameters.state, issuer: issuer))
            }
        }
    }

    /// The answer of the person, from the form of the page. One who has signed out meanwhile signs in and is asked
    /// again.
    private static func decide(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        try await page(call) {
            let form = try FormBody(call.facts.body)
            let decision = ConsentDecision(
                requestID: form["request"], decision: form["decision"], offline: form["offline"])
            guard let decision else {
                throw AgentAccessFault(.consentUnknown, "The decision is not readable.")
            }
            let session = try await signedInSession(call)
            try call.services.requireStore()
            let agents = call.services.agents
            guard let session else {
                guard let asked = try await agents.question(of: decision) else {
                    throw AgentAccessFault(
                        .consentUnknown, "You are not signed in any more. Start again at the application.")
                }
                return signIn(call, asked.query, agents.resource(asked.resource))
            }
            return .redirect(
                to: try await agents.decide(decision, session: session, address: call.facts.clientAddress))
        }
    }

    /// The live session of the request's secret, if a user owns it.
    private static func signedInSession(_ call: APICall) async throws -> SessionSnapshot? {
        let secret = try await call.presentedSecret()
        guard secret.counts, let session = secret.session, session.state == .authenticated else { return nil }
        return session
    }

    /// Sends the person to the sign-in page, which returns to the request with this query.
    private static func signIn(_ call: APICall, _ query: String?, _ resource: ProtectedResource?) -> APIAnswer {
        let route = call.services.configuration.routes.first { $0.resource != nil && $0.path == resource?.path }
        let page = route?.loginURL ?? signInPage
        let request = path + (query.map { "?" + $0 } ?? "")
        let separator = page.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        return .redirect(to: page + separator + "return_to=" + FormText.encode(request))
    }

    /// Answers faults that have no redirect with a page.
    private static func page(_ call: APICall, _ body: () async throws -> APIAnswer) async throws -> APIAnswer {
        do {
            return try await body()
        } catch let fault as AuthorizationPageFault {
            call.services.note(
                Problem(.invalidRequest, detail: fault.detail, reason: fault.code.rawValue), of: call.facts)
            return AgentPages.fault(fault.detail, status: .badRequest)
        } catch let fault as AgentAccessFault {
            let problem = Problem(fault)
            call.services.note(problem, of: call.facts)
            var answer = AgentPages.fault(fault.detail, status: .init(code: problem.status))
            answer.headers += problem.headers
            return answer
        }
    }
}
