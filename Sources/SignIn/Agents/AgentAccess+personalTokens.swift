import AuthorizationServer
import Encodings
import OAuth
import SecurityGuard
import StateSurface

/// What a user asks for in a new personal access token.
package struct PersonalTokenRequest: Sendable {
    /// The name, for people.
    package var name: String
    /// The scopes.
    package var scopes: [String]
    /// The lifetime in seconds.
    package var expiresIn: Int64
    /// The resource; nil for the gateway's own audience.
    package var resource: String?

    package init(name: String, scopes: [String], expiresIn: Int64, resource: String?) {
        self.name = name
        self.scopes = scopes
        self.expiresIn = expiresIn
        self.resource = resource
    }
}

extension AgentAccess {
    /// Makes a personal access token for the caller. The text is returned only here.
    /// - Throws: ``AgentAccessFault`` `.invalidRequest`, `.notFound` for an unknown resource, `.insufficientScope` for
    ///   scopes that the caller may not have; `StateSurfaceError.ownerGone`; the store's errors.
    package func makePersonalToken(
        _ request: PersonalTokenRequest, for principal: Principal
    ) async throws -> (text: String, record: PersonalTokenRecord) {
        guard principal.isUser, let account = try await securityGuard.account(userID: principal.subject),
            !account.disabled
        else { throw AgentAccessFault(.invalidRequest, "Only users have personal access tokens.") }
        guard (1...128).contains(request.name.unicodeScalars.count),
            request.name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { throw AgentAccessFault(.invalidRequest, "'name' has 1 to 128 characters, none of them a control.") }
        guard (1...PersonalToken.maximumLifetime).contains(request.expiresIn) else {
            throw AgentAccessFault(.invalidRequest, "'expires_in' is 1 second to 366 days.")
        }
        let resource = try await resource(of: request, principal, account)
        let text = PersonalToken.random()
        let expiresAt = clock() &+ request.expiresIn * 1000
        let family = securityGuard.personalFamily(
            of: account, clientID: PersonalToken.clientID, scope: request.scopes, resource: resource,
            expiresAt: expiresAt)
        let record = PersonalTokenRecord(
            hash: PersonalToken.hash(text.utf8) ?? [], id: PersonalToken.randomID(), userID: account.userID,
            familyID: family.id, name: request.name, expiresAt: expiresAt)
        guard
            try await store.insert(
                personalToken: record, family: family,
                // The token that asks may have ended since it was judged.
                judged: JudgedOwner(credentialEpoch: account.credentialEpoch, familyID: principal.familyID),
                limit: PersonalToken.maximumPerUser)
        else { throw AgentAccessFault(.invalidRequest, "There are too many tokens. Delete those that are not needed.") }
        report(.personalTokenMade, principal, family.id)
        return (text, record)
    }

    /// Checks the scopes, and returns the identifier of the resource.
    private func resource(
        of request: PersonalTokenRequest, _ principal: Principal, _ account: AccountRecord
    ) async throws -> String? {
        guard request.scopes.count <= Scope.maximumCount,
            request.scopes.allSatisfy(Scope.isScopeToken)
        else { throw AgentAccessFault(.invalidRequest, "'scopes' is a list of scopes (RFC 6749 section 3.3).") }
        guard let name = request.resource else {
            guard Scope.covers(principal.scope, request.scopes) else { throw Self.excessive }
            return nil
        }
        guard let resource = resource(name) else {
            throw AgentAccessFault(.notFound, "'resource' is no resource of this server.")
        }
        guard Scope.covers(resource.scopes, request.scopes) else { throw Self.excessive }
        for scope in request.scopes where try await !securityGuard.mayHave(account, scope: scope) {
            throw Self.excessive
        }
        return resource.identifier
    }

    private static let excessive = AgentAccessFault(
        .insufficientScope, "'scopes' holds a scope that you do not have.")

    /// The caller's live tokens, oldest first.
    package func personalTokens(
        userID: String
    ) async throws -> [(token: PersonalTokenRecord, family: FamilyRecord)] {
        let now = clock()
        return try await store.personalTokens(userID: userID).filter { $0.token.expiresAt > now }
    }

    /// Ends a token of the caller.
    /// - Throws: ``AgentAccessFault`` `.notFound`; the store's errors.
    package func endPersonalToken(id: String, of principal: Principal) async throws {
        let found = try await personalTokens(userID: principal.subject).first { $0.token.id.hasSameBytes(as: id) }
        guard let found else { throw AgentAccessFault(.notFound, "There is no such token.") }
        let end = securityGuard.familyEnd()
        _ = try await store.transaction { try end.end(found.family.id, in: $0) }
        securityGuard.report(endOfFamily: found.family.id, end, reason: "personal_token_deleted")
        report(.personalTokenEnded, principal, found.family.id)
    }

    /// Who a personal access token speaks for, according to the store.
    /// - Throws: the store's errors.
    package func judge(personalToken text: [UInt8]) async throws -> Result<Principal, TokenFault> {
        guard let hash = PersonalToken.hash(text) else {
            return .failure(TokenFault(.invalidToken, reason: "personal_token_malformed"))
        }
        guard let (token, family) = try await store.personalToken(hash: hash) else {
            return .failure(TokenFault(.invalidToken, reason: "personal_token_unknown"))
        }
        return securityGuard.principal(of: token, family)
    }

    private func report(_ name: AuditEvent.Name, _ principal: Principal, _ familyID: String) {
        audit(
            AuditEvent(
                name, tenantID: principal.tenantID, subject: principal.subject, clientID: PersonalToken.clientID,
                familyID: familyID))
    }
}
