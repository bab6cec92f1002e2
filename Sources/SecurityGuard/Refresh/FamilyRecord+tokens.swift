import StateSurface

extension FamilyRecord {
    /// The family of an access token that nothing refreshes: a client's own, or one that was exchanged.
    ///
    /// Its row makes such a token end as every other does, when its user or its client is disabled or gets a new
    /// password, and keeps sessions from being opened with it afterwards.
    init(accessTokenOnly principal: Principal) {
        self.init(
            id: principal.familyID ?? principal.tokenID, tenantID: principal.tenantID, userID: principal.subject,
            clientID: principal.clientID, scope: principal.scope, binding: nil, createdAt: principal.issuedAt,
            absoluteExpiresAt: principal.expiresAt, currentHash: [])
    }
}
