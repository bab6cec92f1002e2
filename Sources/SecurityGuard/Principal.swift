/// Who calls, as a verified access token says it.
///
/// A class, so that handing it from stage to stage costs one reference and not one per member.
package final class Principal: Sendable, Hashable {
    package let tenantID: String
    /// `usr_…` or `cli_…`.
    package let subject: String
    package let clientID: String
    package let scope: [String]
    /// The token's `jti`.
    package let tokenID: String
    /// The token's `fid`: the refresh family it can be revoked with.
    package let familyID: String?
    package let issuedAt: Int64
    /// The token's `exp`, in milliseconds. It is accepted until then plus the policy's clock skew.
    package let expiresAt: Int64
    /// The thumbprint of the key that verified it.
    let keyThumbprint: String
    /// The same key in short.
    package let key: KeyNumber

    init(
        tenantID: String, subject: String, clientID: String, scope: [String], tokenID: String, familyID: String?,
        issuedAt: Int64, expiresAt: Int64, keyThumbprint: String
    ) {
        self.tenantID = tenantID
        self.subject = subject
        self.clientID = clientID
        self.scope = scope
        self.tokenID = tokenID
        self.familyID = familyID
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.keyThumbprint = keyThumbprint
        self.key = KeyNumber(thumbprint: keyThumbprint)
    }

    package var isUser: Bool { subject.utf8.starts(with: Prefix.user.utf8) }

    package func has(scope token: String) -> Bool { Scope.contains(scope, token) }

    /// Whether a token may be used at `now` as far as its times go.
    func isCurrent(at now: Int64, skew: Int64) -> Bool {
        now &- skew < expiresAt && now &+ skew >= issuedAt
    }

    /// Every member is ASCII (the verifier sees to that), so `String ==` compares bytes here.
    package static func == (a: Principal, b: Principal) -> Bool {
        a.tokenID == b.tokenID && a.subject == b.subject && a.tenantID == b.tenantID && a.clientID == b.clientID
            && a.scope == b.scope && a.familyID == b.familyID && a.issuedAt == b.issuedAt && a.expiresAt == b.expiresAt
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(tokenID) }
}
