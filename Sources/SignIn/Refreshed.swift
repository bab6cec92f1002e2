import Runtime
import SecurityGuard

/// The result of using a refresh token.
package struct Refreshed: Sendable {
    /// The new pair of tokens.
    package let tokens: IssuedTokens
    /// The home session of the family; nil if it has none.
    package let home: SessionSnapshot?
    /// When the family ends regardless of refreshes, in Unix milliseconds.
    package let familyEndsAt: Int64
}
