import Encodings
import JOSE

/// One identity provider at work: it knows the discovery document and the keys, asks for them when they are needed, and
/// runs the decisions of this module with the answers. It decides nothing itself.
package actor IdentityProvider {
    /// How long all requests of one sign-in may take together, in milliseconds.
    package static let deadline: Int64 = 10_000

    /// What the configuration says of the provider.
    package nonisolated let configuration: ProviderConfiguration
    private let redirectURI: String
    private let leeway: Double
    private let clientKey: @Sendable () -> SigningKey?
    private let fetch: ProviderFetch
    private let clock: @Sendable () -> Int64
    private var metadata = DocumentCache<ProviderMetadata>()
    private var keySets = KeySetCache()
    private var keyFetch: Task<Result<JWKSet, ProviderFault>, Never>?
    private var documentFetch: Task<Result<ProviderMetadata, ProviderFault>, Never>?

    /// - Parameters:
    ///   - configuration: without faults.
    ///   - issuer: the gateway's own, of which the redirection endpoint is made.
    ///   - leeway: the seconds by which clocks may differ.
    ///   - clientKey: the gateway's active key, for `private_key_jwt`.
    ///   - fetch: makes the requests.
    ///   - clock: milliseconds since 1970.
    package init(
        _ configuration: ProviderConfiguration, issuer: String, leeway: Double,
        clientKey: @escaping @Sendable () -> SigningKey?, fetch: @escaping ProviderFetch,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.configuration = configuration
        redirectURI = AuthorizationRequest.redirectURI(issuer: issuer, provider: configuration.name)
        self.leeway = leeway
        self.clientKey = clientKey
        self.fetch = fetch
        self.clock = clock
    }

    // MARK: Signing in

    /// Begins a sign-in; throws ``ProviderFault`` if the provider can't be reached.
    package func begin(
        session: BrowserSession, returnTo: ReturnTo, hints: LoginHints = LoginHints()
    ) async throws -> AuthorizationRequest {
        let endpoints = try await endpoints(until: clock() + Self.deadline)
        return AuthorizationRequest(
            to: configuration, at: endpoints.authorization, redirectURI: redirectURI, session: session,
            returnTo: returnTo, hints: hints, now: clock())
    }

    /// How a sign-in ended.
    package enum Ending: Sendable, Equatable {
        /// 400 `login_state_invalid`.
        case refused(StateFault)
        /// 303 back, with `login_error`.
        case sentBack(ReturnTo, LoginFailure)
        /// The person may sign in, as it was begun.
        case identified(ExternalIdentity, PendingLogin)
    }

    /// Ends a sign-in.
    ///
    /// - Parameters:
    ///   - query: of the callback.
    ///   - session: of the browser, if it showed a live secret.
    ///   - findPending: looks for the pending login of a hash in the store. What it throws is thrown on.
    ///   - takePending: takes it out, and says whether it was there: one caller finds it. What it throws is thrown on.
    package func finish(
        query: String, session: BrowserSession?,
        findPending: @Sendable (_ stateHash: [UInt8]) async throws -> PendingLogin?,
        takePending: @Sendable (_ stateHash: [UInt8]) async throws -> Bool
    ) async throws -> Ending {
        var machine = CallbackMachine(
            CallbackMachine.Context(
                provider: configuration, redirectURI: redirectURI, session: session, clientKey: clientKey(),
                leeway: leeway))
        let end = clock() + Self.deadline
        var action = machine.handle(.returned(AuthorizationResponse(query: query)), now: clock())
        while true {
            let event: CallbackMachine.Event
            switch action {
            case .refuse(let fault): return .refused(fault)
            case .sendBack(let returnTo, _, let failure): return .sentBack(returnTo, failure)
            case .signIn(let identity, let pending): return .identified(identity, pending)
            case .findPending(let hash): event = .pendingFound(try await findPending(hash))
            case .takePending(let hash): event = .pendingTaken(try await takePending(hash))
            case .findEndpoints: event = await caught { .endpointsFound(try await self.endpoints(until: end)) }
            case .send(let request): event = await caught { .answered(try await self.send(request, until: end)) }
            case .findKey(let header):
                switch await key(header, from: .provider, until: end) {
                case .success(let key): event = .keyFound(key)
                case .failure(let fault): event = .failed(fault)
                }
            }
            action = machine.handle(event, now: clock())
        }
    }

    // MARK: Tokens that are handed in

    /// Who an ID token speaks of that a caller hands in (`subject_token`).
    package func identify(subjectToken text: String) async -> Result<ExternalIdentity, LoginFailure> {
        guard configuration.acceptsTokens, configuration.kind == .oidc else {
            return .failure(
                .provider(ProviderFault(TokenRefusal(.issuerMismatch, "no tokens of this issuer are taken"))))
        }
        let rules = IDTokenRules(
            issuer: configuration.issuer, clientID: configuration.clientID, nonce: nil, accessToken: nil,
            maximumAge: nil, leeway: leeway)
        let verified = await verified(text) { token, key, now in
            ProviderToken.verify(token, with: key, rules: rules, now: now)
        }
        switch verified {
        case .failure(let fault): return .failure(.provider(fault))
        case .success(let token):
            return ExternalIdentity.read(token.claims, of: configuration).mapError(LoginFailure.refusedByRules)
        }
    }

    /// Whose sessions end by a logout token. Whether its `jti` was seen before is for the store to say.
    package func judge(logoutToken text: String) async -> Result<LogoutToken, ProviderFault> {
        guard configuration.kind == .oidc else {
            return .failure(ProviderFault(TokenRefusal(.issuerMismatch, "OAuth 2.0 alone has no logout tokens")))
        }
        return await verified(text) { [configuration, leeway] token, key, now in
            LogoutToken.verify(token, with: key, of: configuration, leeway: leeway, now: now)
        }
    }

    /// Where a person is sent to log out at the provider; nil if it has no such place or can't be asked now.
    package func endSessionURL(idToken: String?, redirectURI: String?) async -> String? {
        guard configuration.kind == .oidc,
            let metadata = try? await discovered(until: clock() + Self.deadline),
            let endpoint = metadata.endSessionEndpoint
        else { return nil }
        return EndSessionRequest.url(
            endpoint, clientID: configuration.clientID, idToken: idToken, redirectURI: redirectURI)
    }

    /// Reads a token, finds its key and judges it. Nothing is fetched for a token that claims another issuer.
    private func verified<Verified: Sendable>(
        _ text: String,
        _ judge: @Sendable (UnverifiedToken, VerificationKey, Int64) -> Result<Verified, TokenRefusal>
    ) async -> Result<Verified, ProviderFault> {
        let token: UnverifiedToken
        switch ProviderToken.read(text) {
        case .failure(let refusal): return .failure(ProviderFault(refusal))
        case .success(let read): token = read
        }
        do throws(TokenRefusal) {
            guard let claimed = try token.unverifiedClaims().issuer, claimed.hasSameBytes(as: configuration.issuer)
            else { throw TokenRefusal(.issuerMismatch, "iss is not the provider") }
        } catch {
            return .failure(ProviderFault(error))
        }
        let key = await key(token.header, from: .caller, until: clock() + Self.deadline)
        return key.flatMap { judge(token, $0, clock()).mapError(ProviderFault.init) }
    }

    // MARK: Documents

    private func endpoints(until end: Int64) async throws -> ProviderEndpoints {
        guard configuration.kind == .oauth2 else { return ProviderEndpoints(try await discovered(until: end)) }
        guard let endpoints = ProviderEndpoints(configuration) else {
            throw ProviderFault(.endpointMissing, "an endpoint is missing in the configuration")
        }
        return endpoints
    }

    /// The discovery document: kept for an hour, fetched once for all who wait.
    private func discovered(until end: Int64) async throws -> ProviderMetadata {
        switch metadata.decide(now: clock()) {
        case .use(let document): return document
        case .refuse(let fault): throw fault
        case .fetch: break
        }
        let task =
            documentFetch
            ?? Task { [configuration] in
                guard let url = ProviderMetadata.url(ofIssuer: configuration.issuer) else {
                    return .failure(ProviderFault(.issuerMismatch, "the issuer is not a URL"))
                }
                do {
                    let answer = try await self.send(self.document(url), until: end)
                    return .success(try ProviderMetadata(answer, issuer: configuration.issuer))
                } catch {
                    return .failure(Self.fault(error))
                }
            }
        documentFetch = task
        let fetched = await task.value
        if documentFetch == task {
            documentFetch = nil
            metadata.finished(fetched, now: clock())
        }
        return try metadata.latest(fetched, now: clock())
    }

    /// The key that a token's header points to; fetches the key set where the rules of ``KeySetCache`` allow it.
    private func key(
        _ header: ProtectedHeader, from source: KeySetCache.Source, until end: Int64
    ) async -> Result<VerificationKey, ProviderFault> {
        var failure: ProviderFault?
        // Once for what is missing; again only where another caller's fetch was waited for.
        for _ in 0..<3 {
            switch keySets.decide(header, from: source, now: clock()) {
            case .use(let key): return .success(key)
            case .refuse(let refusal): return .failure(failure ?? ProviderFault(refusal))
            case .fetch: failure = await fetchKeys(until: end)
            }
        }
        return .failure(failure ?? ProviderFault(TokenRefusal(.keyUnknown, "no key has this kid")))
    }

    /// Fetches the key set, once for all who wait; what went wrong, or nil.
    private func fetchKeys(until end: Int64) async -> ProviderFault? {
        let task =
            keyFetch
            ?? Task {
                do {
                    let metadata = try await self.discovered(until: end)
                    let answer = try await self.send(self.document(metadata.keySetURL), until: end)
                    return .success(try JWKSet(answer, algorithms: metadata.algorithms))
                } catch {
                    return .failure(Self.fault(error))
                }
            }
        keyFetch = task
        let fetched = await task.value
        if keyFetch == task {
            keyFetch = nil
            keySets.finished(try? fetched.get(), now: clock())
        }
        if case .failure(let fault) = fetched { return fault }
        return nil
    }

    private func document(_ url: EndpointURL) -> ProviderRequest {
        ProviderRequest(.get, url, headers: [("Accept", "application/json")], addresses: configuration.addresses)
    }

    // MARK: Requests

    private func send(_ request: ProviderRequest, until end: Int64) async throws -> ProviderAnswer {
        let timeout = min(ProviderRequest.timeout, end - clock())
        guard timeout > 0 else { throw ProviderFault(.timedOut, "the provider took too long") }
        guard request.url.address.map(request.addresses.allows) ?? true else {
            throw ProviderFault(.addressRefused, "the address may not be connected to")
        }
        return try await fetch(request, timeout)
    }

    private func caught(_ step: () async throws -> CallbackMachine.Event) async -> CallbackMachine.Event {
        do {
            return try await step()
        } catch {
            return .failed(Self.fault(error))
        }
    }

    private static func fault(_ error: any Error) -> ProviderFault {
        error as? ProviderFault ?? ProviderFault(.unreachable, "the provider could not be reached")
    }
}
