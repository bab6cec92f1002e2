/// A revocation, which makes access tokens invalid before their `exp`.
package struct Revocation: Sendable, Hashable {
    /// What is revoked.
    package enum Kind: String, Sendable, Hashable {
        /// One token, by its `jti`.
        case token
        /// All tokens of a family, by their `fid`.
        case family
        /// All tokens of a subject that were issued at or before ``issuedUntil``.
        case subject
    }
    /// What is revoked.
    package var kind: Kind
    /// The `jti`, `fid` or `sub`.
    package var id: String
    /// For ``Kind/subject``: tokens whose `iat` (in milliseconds) is at or before this time are revoked, unless
    /// ``accountVersion`` decides. Otherwise 0.
    package var issuedUntil: Milliseconds
    /// For ``Kind/subject``: tokens whose `fid` names an older version of the account are revoked, and those that name
    /// this or a newer version are not, regardless of their `iat`. Nil if only ``issuedUntil`` applies.
    package var accountVersion: Int64?
    /// When the last token concerned has expired, so that the revocation can be removed.
    package var expiresAt: Milliseconds

    /// How long in milliseconds a revocation is kept beyond its end, in the store and in memory: a node's clock may be
    /// ahead, or be set back, and the tokens are still good by the others.
    package static let margin: Milliseconds = 3_600_000

    /// A revocation with these parts.
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
