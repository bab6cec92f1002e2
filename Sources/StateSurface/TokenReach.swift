/// How long after their issue access tokens may be accepted.
package struct TokenReach: Sendable, Hashable {
    /// The longest time from a token's `iat` to its `exp`, in milliseconds.
    package var lifetime: Milliseconds
    /// How long after its `exp` a token is accepted, in milliseconds.
    package var clockSkew: Milliseconds

    /// A reach with these parts.
    package init(lifetime: Milliseconds, clockSkew: Milliseconds) {
        self.lifetime = lifetime
        self.clockSkew = clockSkew
    }

    /// The smallest reach that covers both.
    package func joined(with other: TokenReach) -> TokenReach {
        TokenReach(lifetime: max(lifetime, other.lifetime), clockSkew: max(clockSkew, other.clockSkew))
    }
}
