import OAuth

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
    /// The token's `auth_time`: when its owner last proved who they are, in milliseconds; nil if it does not say.
    package let authenticatedAt: Int64?
    /// The token's `acr`: the authentication context class of that sign-in; nil if it does not say.
    package let acr: String?
    /// What makes it the principal of another issuer's token; nil for the gateway's own tokens.
    package let foreign: Foreign?
    /// The thumbprint of the key that verified it.
    let keyThumbprint: String
    /// The short form of the key's thumbprint.
    package let key: KeyNumber
    /// The resource that the token is for (RFC 8707); nil for a token of the gateway's own audience.
    package let resource: String?
    /// Whether the subject is a user and not a client.
    package let isUser: Bool

    /// Another issuer's token, which is accepted at the gate: on all routes (`issuers[].at_gate`), or for a resource.
    package struct Foreign: Sendable, Equatable {
        /// Issuer and subject, as a digest: newer tokens of the same ones extend what older ones opened.
        package let origin: String
        /// The issuer, as its tokens name it.
        package let issuer: String
        /// The client that the token names, as its issuer calls it; empty for none.
        package let client: String
        /// When it has to be verified again, in Unix milliseconds.
        package let trustedUntil: Int64
    }

    init(
        tenantID: String, subject: String, clientID: String, scope: [String], tokenID: String, familyID: String?,
        issuedAt: Int64, expiresAt: Int64, authenticatedAt: Int64? = nil, acr: String? = nil, keyThumbprint: String,
        foreign: Foreign? = nil, resource: String? = nil
    ) {
        self.tenantID = tenantID
        self.subject = subject
        self.clientID = clientID
        self.scope = scope
        self.tokenID = tokenID
        self.familyID = familyID
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.authenticatedAt = authenticatedAt
        self.acr = acr
        self.foreign = foreign
        self.keyThumbprint = keyThumbprint
        self.key = KeyNumber(thumbprint: keyThumbprint)
        self.resource = resource
        self.isUser = subject.utf8.starts(with: Prefix.user.utf8)
    }

    /// The client with its issuer, so that clients of two issuers are two, whatever they are called.
    package var qualifiedClientID: String {
        // No client's name has a space.
        foreign.map { "\($0.issuer) \($0.client)" } ?? clientID
    }

    /// Whether the token is for this resource, byte for byte; nil stands for the gateway's own audience.
    package func isFor(resource wanted: String?) -> Bool {
        guard let resource, let wanted else { return resource == nil && wanted == nil }
        return sameBytes(resource, wanted)
    }

    /// Whether the scope contains this token.
    package func has(scope token: String) -> Bool { Scope.contains(scope, token) }

    /// Whether `now` is within the token's lifetime, with this tolerance in milliseconds.
    package func isCurrent(at now: Int64, skew: Int64) -> Bool {
        now &- skew < expiresAt && now &+ skew >= issuedAt
    }

    /// Equality of all members. They are ASCII, which the verifier checks, so `String ==` compares bytes.
    package static func == (a: Principal, b: Principal) -> Bool {
        a.tokenID == b.tokenID && a.subject == b.subject && a.tenantID == b.tenantID && a.clientID == b.clientID
            && a.scope == b.scope && a.familyID == b.familyID && a.issuedAt == b.issuedAt && a.expiresAt == b.expiresAt
            && a.authenticatedAt == b.authenticatedAt && a.acr == b.acr && a.resource == b.resource
    }

    /// Hashes the token id.
    package func hash(into hasher: inout Hasher) { hasher.combine(tokenID) }
}
