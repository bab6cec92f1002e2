import Encodings
import JOSE

/// The end of a sign-in: from the browser's return to a person, or to a refusal. Events in, actions out; it waits for
/// nothing and writes nothing.
///
/// The order is the defence: `state` before anything else is believed, the issuer of the response before its code is
/// sent anywhere (mix-up, RFC 9207), the ID token's signature before its claims, and the claims before the rules about
/// people. Before a good `state` every fault is ``Action/refuse(_:)``, because there is no `return_to` to be trusted;
/// after it every ending goes to the `return_to` that was stored.
package struct CallbackMachine: Sendable {
    /// What happened.
    package enum Event: Sendable {
        /// The browser came back.
        case returned(AuthorizationResponse)
        /// What the store has for the `state`.
        case pendingFound(PendingLogin?)
        /// Whether the store gave it up now; false where another request was faster.
        case pendingTaken(Bool)
        /// The provider's endpoints are known.
        case endpointsFound(ProviderEndpoints)
        /// The provider answered the last request.
        case answered(ProviderAnswer)
        /// The last request came to nothing.
        case failed(ProviderFault)
        /// The key that the ID token's header points to.
        case keyFound(VerificationKey)
    }

    /// What is to be done next.
    package enum Action: Sendable {
        /// Look for the pending login of this hash in the store, and leave it there: only its own browser uses it up.
        case findPending(stateHash: [UInt8])
        /// Take it out of the store, once among all nodes.
        case takePending(stateHash: [UInt8])
        /// Find the provider's endpoints, by discovery or by configuration.
        case findEndpoints
        case send(ProviderRequest)
        case findKey(ProtectedHeader)
        /// 400 `login_state_invalid`.
        case refuse(StateFault)
        /// 303 back, with `login_error`.
        case sendBack(ReturnTo, LoginError, LoginFailure)
        /// The person is who they are and may sign in, as it was begun.
        case signIn(ExternalIdentity, PendingLogin)
    }

    /// What the machine knows of provider and gateway.
    package struct Context: Sendable {
        let provider: ProviderConfiguration
        let redirectURI: String
        /// The session of the browser, if it showed a live secret.
        let session: BrowserSession?
        /// For `private_key_jwt`.
        let clientKey: SigningKey?
        /// The seconds by which clocks may differ.
        let leeway: Double

        package init(
            provider: ProviderConfiguration, redirectURI: String, session: BrowserSession?, clientKey: SigningKey?,
            leeway: Double
        ) {
            self.provider = provider
            self.redirectURI = redirectURI
            self.session = session
            self.clientKey = clientKey
            self.leeway = leeway
        }
    }

    private enum State {
        case begun
        case findingPending(AuthorizationResponse, state: String)
        case takingPending(Attempt, AuthorizationResponse, codeVerifier: String)
        case findingEndpoints(Attempt, AuthorizationResponse, codeVerifier: String)
        case exchanging(Attempt, ProviderEndpoints)
        case findingKey(Attempt, ProviderEndpoints, UnverifiedToken, accessToken: String)
        case askingUserInfo(Attempt, ProviderToken)
        case askingAPI(Attempt, ProviderEndpoints, accessToken: String)
        case askingEmails(Attempt, JSONObject)
        case ended

        /// The sign-in, once its `state` was good.
        var attempt: Attempt? {
            switch self {
            case .begun, .findingPending, .takingPending, .ended: nil
            case .findingEndpoints(let attempt, _, _), .exchanging(let attempt, _),
                .findingKey(let attempt, _, _, _), .askingUserInfo(let attempt, _), .askingAPI(let attempt, _, _),
                .askingEmails(let attempt, _):
                attempt
            }
        }
    }

    /// A sign-in whose `state` was good.
    private struct Attempt {
        let pending: PendingLogin
        let nonce: String
    }

    private let context: Context
    private var state = State.begun

    /// Creates a machine for one authorization response.
    package init(_ context: Context) { self.context = context }

    /// Whether the machine has given its final action.
    package var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// Takes an event. One that does not belong to the state ends the sign-in.
    ///
    /// - Parameter now: milliseconds since 1970.
    package mutating func handle(_ event: Event, now: Int64) -> Action {
        let attempt = state.attempt
        do throws(ProviderFault) {
            return try step(event, now)
        } catch {
            guard let attempt else {
                state = .ended
                return .refuse(.unknown)
            }
            return end(attempt, .provider(error))
        }
    }

    private mutating func step(_ event: Event, _ now: Int64) throws(ProviderFault) -> Action {
        switch (state, event) {
        case (.begun, .returned(let response)): return find(response)
        case (.findingPending(let response, let text), .pendingFound(let pending)):
            return take(response, state: text, pending, now)
        case (.takingPending(let attempt, let response, let verifier), .pendingTaken(let isTaken)):
            guard isTaken else { return refuse(.unknown) }
            state = .findingEndpoints(attempt, response, codeVerifier: verifier)
            return .findEndpoints
        case (.findingEndpoints(let attempt, let response, let verifier), .endpointsFound(let endpoints)):
            return try redeem(attempt, response, endpoints, codeVerifier: verifier, now)
        case (.exchanging(let attempt, let endpoints), .answered(let answer)):
            return try exchange(attempt, endpoints, answer)
        case (.findingKey(let attempt, let endpoints, let token, let accessToken), .keyFound(let key)):
            return try verify(attempt, endpoints, token, key, accessToken: accessToken, now)
        case (.askingUserInfo(let attempt, let token), .answered(let answer)):
            return finish(attempt, claims: try UserInfo.claims(answer, beneath: token))
        case (.askingAPI(let attempt, let endpoints, let accessToken), .answered(let answer)):
            return try describe(attempt, endpoints, answer, accessToken: accessToken)
        case (.askingEmails(let attempt, let claims), .answered(let answer)):
            let name = context.provider.claims.email
            return finish(attempt, claims: try UserInfo.claims(claims, withEmails: answer, as: name))
        case (_, .failed(let fault)): throw fault
        default: throw ProviderFault(.outOfOrder, "a step of the sign-in came out of order")
        }
    }

    // MARK: Steps

    private mutating func find(_ response: AuthorizationResponse) -> Action {
        switch response.state {
        case .failure(let fault): return refuse(fault)
        case .success(let text):
            state = .findingPending(response, state: text)
            return .findPending(stateHash: PendingLogin.hash(ofState: text))
        }
    }

    private mutating func take(
        _ response: AuthorizationResponse, state text: String, _ pending: PendingLogin?, _ now: Int64
    ) -> Action {
        guard let pending else { return refuse(.unknown) }
        switch pending.secrets(state: text, provider: context.provider, session: context.session, now: now) {
        case .failure(let fault): return refuse(fault)
        case .success(let secrets):
            let attempt = Attempt(pending: pending, nonce: secrets.nonce)
            state = .takingPending(attempt, response, codeVerifier: secrets.codeVerifier)
            return .takePending(stateHash: pending.stateHash)
        }
    }

    private mutating func redeem(
        _ attempt: Attempt, _ response: AuthorizationResponse, _ endpoints: ProviderEndpoints, codeVerifier: String,
        _ now: Int64
    ) throws(ProviderFault) -> Action {
        switch response.verdict(issuer: attempt.pending.issuer, announcesIssuer: endpoints.announcesResponseIssuer) {
        case .refused(let code): return end(attempt, .refusedByProvider(code))
        case .unacceptable(let fault): throw fault
        case .code(let code):
            let request = try TokenRequest.make(
                to: context.provider, at: endpoints.token, code: code, codeVerifier: codeVerifier,
                redirectURI: context.redirectURI, clientKey: context.clientKey, now: now)
            state = .exchanging(attempt, endpoints)
            return .send(request)
        }
    }

    private mutating func exchange(
        _ attempt: Attempt, _ endpoints: ProviderEndpoints, _ answer: ProviderAnswer
    ) throws(ProviderFault) -> Action {
        let response = try TokenResponse(answer, needsIDToken: context.provider.kind == .oidc)
        guard let idToken = response.idToken else {
            state = .askingAPI(attempt, endpoints, accessToken: response.accessToken)
            return .send(try userInfoRequest(endpoints, accessToken: response.accessToken))
        }
        switch ProviderToken.read(idToken) {
        case .failure(let refusal): throw ProviderFault(refusal)
        case .success(let token):
            state = .findingKey(attempt, endpoints, token, accessToken: response.accessToken)
            return .findKey(token.header)
        }
    }

    private mutating func verify(
        _ attempt: Attempt, _ endpoints: ProviderEndpoints, _ token: UnverifiedToken,
        _ key: VerificationKey, accessToken: String, _ now: Int64
    ) throws(ProviderFault) -> Action {
        let rules = IDTokenRules(
            issuer: context.provider.issuer, clientID: context.provider.clientID, nonce: attempt.nonce,
            accessToken: accessToken, maximumAge: attempt.pending.maximumAge, leeway: context.leeway)
        switch ProviderToken.verify(token, with: key, rules: rules, now: now) {
        case .failure(let refusal): throw ProviderFault(refusal)
        case .success(let token):
            guard context.provider.asksUserInfo else { return finish(attempt, claims: token.claims) }
            let request = try userInfoRequest(endpoints, accessToken: accessToken)
            state = .askingUserInfo(attempt, token)
            return .send(request)
        }
    }

    private mutating func describe(
        _ attempt: Attempt, _ endpoints: ProviderEndpoints, _ answer: ProviderAnswer, accessToken: String
    ) throws(ProviderFault) -> Action {
        let claims = try UserInfo.claims(ofAPI: answer)
        guard let endpoint = endpoints.emails else { return finish(attempt, claims: claims) }
        state = .askingEmails(attempt, claims)
        return .send(UserInfo.request(endpoint, accessToken: accessToken, of: context.provider))
    }

    private func userInfoRequest(
        _ endpoints: ProviderEndpoints, accessToken: String
    ) throws(ProviderFault) -> ProviderRequest {
        guard let endpoint = endpoints.userInfo else {
            throw ProviderFault(.endpointMissing, "there is no userinfo endpoint")
        }
        return UserInfo.request(endpoint, accessToken: accessToken, of: context.provider)
    }

    // MARK: Endings

    private mutating func finish(_ attempt: Attempt, claims: JSONObject) -> Action {
        switch ExternalIdentity.read(claims, of: context.provider) {
        case .failure(let refusal): return end(attempt, .refusedByRules(refusal))
        case .success(let identity):
            state = .ended
            return .signIn(identity, attempt.pending)
        }
    }

    private mutating func refuse(_ fault: StateFault) -> Action {
        state = .ended
        return .refuse(fault)
    }

    private mutating func end(_ attempt: Attempt, _ failure: LoginFailure) -> Action {
        state = .ended
        return .sendBack(attempt.pending.returnTo, failure.loginError, failure)
    }
}
