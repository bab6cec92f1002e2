/// What makes access tokens invalid before their `exp`.
package struct Revocation: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// One token, by `jti`.
        case token
        /// Every token of a family, by `fid`.
        case family
        /// Every token of a subject issued at or before `issuedUntil`.
        case subject
    }
    package var kind: Kind
    package var id: String
    /// For `.subject`: tokens with `iat` (in ms) at or before this are dead, unless `accountVersion` decides.
    /// Otherwise 0.
    package var issuedUntil: Milliseconds
    /// For `.subject`: tokens whose `fid` names an older version of the account are dead and all others that name one
    /// are not, whatever clock their `iat` came from. nil decides nothing.
    package var accountVersion: Int64?
    /// When the last token concerned has expired, and the revocation may be forgotten.
    package var expiresAt: Milliseconds

    package init(
        kind: Kind, id: String, issuedUntil: Milliseconds = 0, accountVersion: Int64? = nil, expiresAt: Milliseconds
    ) {
        self.kind = kind
        self.id = id
        self.issuedUntil = issuedUntil
        self.accountVersion = accountVersion
        self.expiresAt = expiresAt
    }
}

/// How long access tokens are good: for their own lifetime, and for as long again as a node's clock may lag.
package struct TokenReach: Sendable, Hashable {
    /// The longest time from a token's `iat` to its `exp`.
    package var lifetime: Milliseconds
    /// How much longer than its `exp` a token is accepted.
    package var clockSkew: Milliseconds

    package init(lifetime: Milliseconds, clockSkew: Milliseconds) {
        self.lifetime = lifetime
        self.clockSkew = clockSkew
    }

    /// What covers both.
    package func joined(with other: TokenReach) -> TokenReach {
        TokenReach(lifetime: max(lifetime, other.lifetime), clockSkew: max(clockSkew, other.clockSkew))
    }
}
