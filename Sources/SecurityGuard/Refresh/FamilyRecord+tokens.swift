import StateSurface

extension FamilyRecord {
    /// The family of an access token without a refresh token: that of a client, or an exchanged one.
    ///
    /// Because of this record, such a token ends like any other when its user or client is disabled or gets a new
    /// password, and no sessions can be opened with it afterwards.
    init(accessTokenOnly principal: Principal) {
        self.init(
            id: principal.familyID ?? principal.tokenID, tenantID: principal.tenantID, userID: principal.subject,
            clientID: principal.clientID, scope: principal.scope, binding: nil, createdAt: principal.issuedAt,
            absoluteExpiresAt: principal.expiresAt, currentHash: [],
            signIn: principal.authenticatedAt.map { SignInFacts(authenticatedAt: $0, acr: principal.acr) })
    }
}
