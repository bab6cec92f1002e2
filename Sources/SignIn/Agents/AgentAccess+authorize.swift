import AuthorizationServer
import Encodings
import IdentityProviders
import OAuth
import Runtime
import SecurityGuard
import StateSurface

/// What follows from an authorization request of a person who is signed in.
package enum AuthorizationStep: Sendable {
    /// The person's browser is redirected to the client.
    case redirect(String)
    /// The person is asked.
    case ask(ConsentQuestion)
}

/// What the consent page says.
package struct ConsentQuestion: Sendable {
    /// The value of the form's hidden field.
    package let requestID: String
    /// The client.
    package let client: AuthorizationClient
    /// Where the answer goes.
    package let redirectURI: RedirectURI
    /// What is asked for.
    package let resource: ProtectedResource
    /// The scopes.
    package let scopes: [String]
    /// The e-mail of the person; empty if the account has none.
    package let email: String
}

extension AgentAccess {
    /// Judges the request of a signed-in person: asks, or redirects with a code if the person has consented before.
    ///
    /// - Parameter session: a live authenticated session.
    /// - Throws: `OAuthFault`, which is told to the client; the store's errors.
    package func authorize(
        _ request: JudgedAuthorization, client: AuthorizationClient, session: SessionSnapshot
    ) async throws -> AuthorizationStep {
        let account = try await account(of: session)
        if let tenant = client.tenantID, !tenant.hasSameBytes(as: account.tenantID) {
            throw OAuthFault(.accessDenied, "The application is not for this account.")
        }
        let scopes = try await scopes(request, client, account)
        let asked = ConsentRequest(
            sessionID: session.id, sessionEpoch: session.epoch, userID: account.userID, clientID: client.id,
            redirectURI: request.redirectURI.text, resource: request.resource.identifier, scopes: scopes,
            state: request.state, challenge: request.challenge)
        if request.redirectURI.kind == .https {
            let consent = try await store.consent(
                userID: account.userID, clientID: client.id, resource: request.resource.identifier)
            if let consent, Scope.covers(consent.scope, scopes) {
                let location = try await issueCode(
                    asked, client, session, account, isKept: false, consent: .reliedOn)
                // Without a location the consent was withdrawn meanwhile, and the person is asked.
                if let location { return .redirect(location) }
            }
        }
        let id = ConsentRequest.randomID()
        let now = clock()
        try await store.put(
            singleUse: SingleUseRecord(
                kind: ConsentRequest.kind, hash: ConsentRequest.hash(id), owner: session.id, payload: asked.stored,
                expiresAt: now &+ ConsentRequest.lifetime),
            limit: ConsentRequest.maximumPerSession, now: now)
        return .ask(
            ConsentQuestion(
                requestID: id, client: client, redirectURI: request.redirectURI, resource: request.resource,
                scopes: scopes, email: account.email))
    }

    /// The question that a decision is about, which stays where it is; nil if there is none.
    package func question(of decision: ConsentDecision) async throws -> ConsentRequest? {
        let record = try await store.singleUse(
            kind: ConsentRequest.kind, hash: ConsentRequest.hash(decision.requestID), now: clock())
        return record.flatMap { ConsentRequest(stored: $0.payload) }
    }

    /// Takes the person's decision, once. What is allowed is written in the transaction that takes the question.
    ///
    /// - Parameter session: the live authenticated session that the decision came from.
    /// - Returns: where the browser is redirected to.
    /// - Throws: ``AgentAccessFault`` `.consentUnknown` if there is no such question for this session;
    ///   ``AuthorizationPageFault`` if the client is no longer known; the store's errors.
    package func decide(
        _ decision: ConsentDecision, session: SessionSnapshot, address: String
    ) async throws -> String {
        let hash = ConsentRequest.hash(decision.requestID)
        let now = clock()
        // Read first: a decision that comes from another session must not take the question away.
        guard let record = try await store.singleUse(kind: ConsentRequest.kind, hash: hash, now: now),
            let asked = ConsentRequest(stored: record.payload), let userID = session.userID,
            asked.wasAsked(of: session.id, epoch: session.epoch, userID: userID)
        else { throw Self.unknownQuestion }
        let client = try await client(id: asked.clientID, address: address)
        // The client may have changed its addresses since the question was asked.
        let uri = try AuthorizationParameters.redirectURI(asked.redirectURI, of: client)
        func refuse(_ fault: OAuthFault) -> String {
            AuthorizationRedirect.location(uri, fault: fault, state: asked.state, issuer: settings.issuer)
        }
        do {
            guard decision.allows else { throw OAuthFault(.accessDenied, "The person did not allow it.") }
            guard let resource = resource(asked.resource) else {
                throw OAuthFault(.invalidTarget, "The resource is no longer offered.")
            }
            let account = try await account(of: session)
            let location = try await issueCode(
                asked, client, session, account, isKept: decision.offline && resource.offline,
                consent: uri.kind == .https ? .remembered(at: now) : .asked, answering: hash)
            return location ?? refuse(OAuthFault(.accessDenied, "The access was withdrawn."))
        } catch let fault as OAuthFault {
            // Nothing was written. The question is answered all the same.
            guard try await store.take(singleUse: ConsentRequest.kind, hash: hash, now: now) != nil else {
                throw Self.unknownQuestion
            }
            if !decision.allows { report(.grantDenied, asked, session) }
            return refuse(fault)
        }
    }

    private static let unknownQuestion = AgentAccessFault(
        .consentUnknown, "The question was answered already, or it is too old. Start again at the application.")

    private func account(of session: SessionSnapshot) async throws -> AccountRecord {
        guard let userID = session.userID, let account = try await securityGuard.account(userID: userID),
            !account.disabled
        else { throw OAuthFault(.accessDenied, "The account can't be used.") }
        return account
    }

    private func scopes(
        _ request: JudgedAuthorization, _ client: AuthorizationClient, _ account: AccountRecord
    ) async throws -> [String] {
        var allowed: [String] = []
        for scope in request.resource.scopes where try await securityGuard.mayHave(account, scope: scope) {
            allowed.append(scope)
        }
        let granted = Scope.granted(
            asked: request.scopes, resource: request.resource.scopes, client: client.scopes
        ) { Scope.contains(allowed, $0) }
        guard !granted.isEmpty || (request.scopes.isEmpty && request.resource.scopes.isEmpty) else {
            throw OAuthFault(.invalidScope, "None of the scopes can be granted.")
        }
        return granted
    }

    /// Opens the family of a grant, and issues the code for it, in one transaction: with the consent, the record of a
    /// client that is a document, and the question that this answers.
    ///
    /// - Parameters:
    ///   - isKept: whether the grant stays when the session ends.
    ///   - consent: what becomes of the remembered consent.
    ///   - question: the hash of the question that is answered; nil if none was asked.
    /// - Returns: nil if the consent that is relied on is no longer there.
    /// - Throws: `OAuthFault` if what was judged has changed, and ``AgentAccessFault`` `.consentUnknown` if
    ///   the question was answered by another decision; nothing is written then. The store's errors.
    private func issueCode(
        _ asked: ConsentRequest, _ client: AuthorizationClient, _ session: SessionSnapshot, _ account: AccountRecord,
        isKept: Bool, consent: GrantConsent, answering question: [UInt8]? = nil
    ) async throws -> String? {
        guard let uri = RedirectURI(asked.redirectURI) else {
            throw OAuthFault(.invalidRequest, "The redirect URI is malformed.")
        }
        let now = clock()
        let document = try await unkeptRecord(of: client)
        var signIn: SignInFacts?
        if let familyID = session.familyID { signIn = try await store.family(id: familyID)?.signIn }
        let family = securityGuard.grant(
            GrantTerms(
                clientID: client.id, resource: asked.resource, scope: asked.scopes,
                binding: isKept ? nil : session.id, signIn: signIn),
            of: account, codeLifetime: AuthorizationCode.lifetime)
        let text = AuthorizationCode.random()
        let code = AuthorizationCode(
            familyID: family.id, clientID: client.id, redirectURI: asked.redirectURI, challenge: asked.challenge,
            resource: asked.resource)
        let record = SingleUseRecord(
            kind: AuthorizationCode.kind, hash: AuthorizationCode.hash(text) ?? [], owner: "", payload: code.stored,
            expiresAt: now &+ AuthorizationCode.memory)
        let judged = JudgedOwner(credentialEpoch: account.credentialEpoch, clientID: client.id)
        let place = AuthorizingSession(id: session.id, epoch: session.epoch)
        let isIssued: Bool
        do {
            isIssued = try await store.transaction { transaction -> Bool in
                if let question {
                    let taken = try transaction.take(singleUse: ConsentRequest.kind, hash: question, now: now)
                    guard taken != nil else { throw QuestionAnswered() }
                }
                if let document { try transaction.keep(documentClient: document) }
                guard try transaction.open(grant: family, judged: judged, in: place, consent: consent) else {
                    return false
                }
                try transaction.put(singleUse: record, limit: .max, now: now)
                return true
            }
        } catch let error as StateSurfaceError where error.code == .ownerGone {
            throw OAuthFault(.accessDenied, "The account, the application or the session has changed.")
        } catch is QuestionAnswered {
            throw Self.unknownQuestion
        }
        guard isIssued else { return nil }
        report(.grantAllowed, asked, session, familyID: family.id)
        return AuthorizationRedirect.location(uri, code: text, state: asked.state, issuer: settings.issuer)
    }

    /// The record of a client that is a document; nil for other clients, and for one that is stored as it is. It is not
    /// written again with every code, because its row is locked until the transaction ends.
    private func unkeptRecord(of client: AuthorizationClient) async throws -> ClientRecord? {
        guard client.origin == .document else { return nil }
        let stored = try await store.client(id: client.id)
        if let stored, stored.name.hasSameBytes(as: client.name), stored.redirectURIs.isEmpty, stored.scope.isEmpty {
            return nil
        }
        return ClientRecord(
            clientID: client.id, tenantID: "", name: client.name, secretHash: [], scope: [], createdAt: clock(),
            isPublic: true, origin: AuthorizationClient.Origin.document.rawValue)
    }

    private func report(
        _ name: AuditEvent.Name, _ asked: ConsentRequest, _ session: SessionSnapshot, familyID: String? = nil
    ) {
        audit(
            AuditEvent(
                name, tenantID: session.tenantID, subject: asked.userID, clientID: asked.clientID, familyID: familyID))
    }
}

/// Rolls an authorisation back whose question was answered by another decision.
private struct QuestionAnswered: TransactionAbort {}
