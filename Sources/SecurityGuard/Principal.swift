/// The caller named by a verified access token.
///
/// It is a class, so that passing it on costs one reference count and not one per member.
package final class Principal: Sendable, Hashable {
    /// The tenant.
    package let tenantID: String
    /// The `sub`: `usr_…` or `cli_…`.
    package let subject: String
    /// The `client_id`.
    package let clientID: String
    /// The scope.
    package let scope: [String]
    /// The token's `jti`.
    package let tokenID: String
    /// The token's `fid`: its refresh family.
    package let familyID: String?
    /// The token's `iat`, in milliseconds.
    package let issuedAt: Int64
    /// The token's `exp`, in milliseconds. It is accepted until then plus the policy's clock skew.
    package let expiresAt: Int64
    /// The thumbprint of the key that verified it.
    let keyThumbprint: String
    /// The short form of the key's thumbprint.
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

    /// Whether the subject is a user and not a client.
    package var isUser: Bool { subject.utf8.starts(with: Prefix.user.utf8) }

    /// Whether the scope contains this token.
    package func has(scope token: String) -> Bool { Scope.contains(scope, token) }

    /// Whether `now` is within the token's lifetime, with this tolerance in milliseconds.
    func isCurrent(at now: Int64, skew: Int64) -> Bool {
        now &- skew < expiresAt && now &+ skew >= issuedAt
    }

    /// Equality of all members. They are ASCII, which the verifier checks, so `String ==` compares bytes.
    package static func == (a: Principal, b: Principal) -> Bool {
        a.tokenID == b.tokenID && a.subject == b.subject && a.tenantID == b.tenantID && a.clientID == b.clientID
            && a.scope == b.scope && a.familyID == b.familyID && a.issuedAt == b.issuedAt && a.expiresAt == b.expiresAt
    }

    /// Hashes the token id.
    package func hash(into hasher: inout Hasher) { hasher.combine(tokenID) }
}
