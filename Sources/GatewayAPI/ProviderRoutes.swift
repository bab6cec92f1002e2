import Answers
import EdgeConfiguration
import Encodings
import HTTPTypes
import IdentityProviders
import Logging
import OAuth
import Runtime
import SecurityGuard
import SignIn

/// Signing in through identity providers: the list of them, the way there and back, and the end that they announce.
///
/// The way there and back are top-level navigations from and to other sites. They carry the session cookie
/// (`SameSite=Lax`), change nothing but by a `state` of that very session, and answer people with pages.
enum ProviderRoutes {
    /// Here faults of a body are answered with 400, as ``APIResponder/code(ofBody:at:)`` says.
    static let backchannelPrefix = "/api/auth/backchannel/"

    static let all = [
        APIRoute(.get, "/api/auth/providers", .open, list),
        APIRoute(.get, "/api/auth/login/{provider}", APITerms(path: .provider), begin),
        APIRoute(.get, "/api/auth/callback/{provider}", APITerms(path: .provider, store: true), finish),
        APIRoute(.post, backchannelPrefix + "{provider}", APITerms(path: .provider), logOut),
    ]

    // MARK: The list

    /// The names of the providers and where to sign in, for pages. It may be cached for a minute and says nothing of
    /// the caller.
    private static func list(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let providers = call.services.providers.all.map { provider -> JSONValue in
            let name = provider.configuration.name
            return .object([
                "name": .string(name), "display_name": .string(provider.configuration.displayName),
                "login_url": .string("/api/auth/login/" + name),
            ])
        }
        var answer = APIAnswer.json([
            "providers": .array(providers), "password": .bool(call.services.configuration.accounts.passwords),
        ])
        answer.cacheControl = "public, max-age=60"
        return answer
    }

    // MARK: The way there

    /// 303 to the provider. Begins a session where the browser has none, since the callback is accepted only in the
    /// session that was sent to the provider.
    private static func begin(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let provider = try proven.identityProvider()
        // The query is judged before the store is asked for, as bodies are.
        let query = try LoginQuery(call.facts.query)
        try call.services.requireStore()
        let session = try await browserSession(call)
        let request: AuthorizationRequest
        do {
            request = try await provider.begin(session: session, returnTo: query.returnTo, hints: query.hints)
        } catch let fault as ProviderFault {
            warn(call, provider, fault)
            throw Problem(.providerUnavailable, reason: fault.label)
        }
        try await call.services.providerMemory.keep(request.pending)
        return .redirect(to: request.location)
    }

    /// The live session of the browser, or a new anonymous one.
    private static func browserSession(_ call: APICall) async throws -> BrowserSession {
        guard call.facts.cookieMode != .none else {
            throw Problem(
                .invalidRequest, detail: "Signing in here needs a cookie, and so https, or http on loopback.",
                reason: "cookies_unavailable")
        }
        let secret = try await call.presentedSecret()
        if let session = secret.session {
            return BrowserSession(sessionID: session.id, epoch: session.epoch, secret: secret.text)
        }
        let issued = try await call.services.signIn.openAnonymous(clientAddress: call.facts.clientAddress)
        call.setSessionCookie(issued.secret.text, maxAge: call.secondsLeft(of: issued.session))
        return BrowserSession(
            sessionID: issued.session.id, epoch: issued.session.epoch, secret: issued.secret.text)
    }

    // MARK: The way back

    /// 303 to `return_to`, with `login_error` where the sign-in was refused. A `state` that is not of this session, or
    /// was used before, is a page with 400 instead: nothing that it says can be trusted.
    private static func finish(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let provider = try proven.identityProvider()
        let secret = try await call.presentedSecret()
        let session = secret.session.map {
            BrowserSession(sessionID: $0.id, epoch: $0.epoch, secret: secret.text)
        }
        let memory = call.services.providerMemory
        let ending = try await provider.finish(
            query: call.facts.query ?? "", session: session,
            findPending: { try await memory.find(stateHash: $0) }, takePending: { try await memory.take(stateHash: $0) }
        )
        switch ending {
        case .refused(let fault): throw Problem(.loginStateInvalid, reason: fault.rawValue)
        case .sentBack(let returnTo, let failure):
            note(call, provider, failure)
            return .redirect(to: returnTo.adding(failure.loginError))
        case .identified(let identity, let pending):
            if let error = try await signIn(call, provider, identity, pending, secret) {
                return .redirect(to: pending.returnTo.adding(error))
            }
            // Sockets and streams from before the sign-in are closed before it is answered.
            await call.services.leasesSettled()
            return .redirect(to: pending.returnTo.withoutError)
        }
    }

    /// The sign-in itself, which is that of every method.
    /// - Returns: why it was refused; nil if the person is signed in, and has the cookies.
    private static func signIn(
        _ call: APICall, _ provider: IdentityProvider, _ identity: ExternalIdentity, _ pending: PendingLogin,
        _ secret: PresentedSecret
    ) async throws -> LoginError? {
        let services = call.services
        // The callback is judged by the session of this very secret, so both are there.
        guard let session = secret.session, let hash = secret.hash else { return .sessionConflict }
        noteGroups(call, provider, identity)
        do {
            let signedIn = try await services.signIn.signIn(
                identity, of: provider.configuration, begunAt: pending.keptAt,
                target: SignInTarget(session: session, secretHash: hash), clientAddress: call.facts.clientAddress)
            let issued = signedIn.session
            call.setSessionCookie(issued.secret.text, maxAge: call.secondsLeft(of: issued.session))
            if let refresh = signedIn.tokens.refreshToken {
                call.setRefreshCookie(refresh, maxAge: services.configuration.tokens.refreshTokenLifetime / 1000)
            }
            return nil
        } catch let fault as AuthError where fault.code == .invalidCredentials {
            return .refused
        } catch is SessionFault {
            return .sessionConflict
        }
    }

    // MARK: The end that the provider announces

    /// OpenID Connect Back-Channel Logout 1.0 §2.5 to §2.8.
    private static func logOut(_ call: APICall, _ proven: Proven) async throws -> APIAnswer {
        let provider = try proven.identityProvider()
        let form = try FormBody(call.facts.body)
        let text = try form.required("logout_token")
        try call.services.requireStore()
        let token: LogoutToken
        switch await provider.judge(logoutToken: text) {
        case .success(let verified): token = verified
        case .failure(let fault):
            throw OAuthFault(.invalidRequest, "The logout token is not accepted.", reason: fault.label)
        }
        guard try await call.services.signIn.backchannelLogOut(token, of: provider.configuration) else {
            throw OAuthFault(.invalidRequest, "The logout token is not accepted.", reason: "replayed")
        }
        return APIAnswer(contentType: nil)
    }

    // MARK: Helpers

    private static func note(_ call: APICall, _ provider: IdentityProvider, _ failure: LoginFailure) {
        call.services.securityGuard.noteRefusedSignIn(
            reason: failure.label, provider: provider.configuration.name)
        if case .provider(let fault) = failure { warn(call, provider, fault) }
    }

    /// Tells the operator what is wrong with a provider. The sentence has no part of what the provider sent.
    private static func warn(_ call: APICall, _ provider: IdentityProvider, _ fault: ProviderFault) {
        call.services.logger.warning(
            "signing in through an identity provider failed",
            metadata: [
                "provider": "\(provider.configuration.name)", "reason": "\(fault.label)", "detail": "\(fault.detail)",
                "request_id": "\(call.facts.requestID)",
            ])
    }

    /// Warns the operator where the provider has told more groups than are kept. The sign-in goes on without them.
    static func noteGroups(_ call: APICall, _ provider: IdentityProvider, _ identity: ExternalIdentity) {
        guard identity.leftGroupsOut else { return }
        call.services.logger.warning(
            "groups of a person were left out: more than 100, longer than 128 bytes, or kept back by the provider",
            metadata: [
                "provider": "\(provider.configuration.name)", "request_id": "\(call.facts.requestID)",
            ])
    }
}
