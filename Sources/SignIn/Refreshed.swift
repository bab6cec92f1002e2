import Runtime
import SecurityGuard

/// A family that was refreshed.
package struct Refreshed: Sendable {
    package let tokens: IssuedTokens
    /// The session that it is at home in; nil for a family that has none.
    package let home: SessionSnapshot?
    /// When the family ends, however often it is refreshed (ms).
    package let familyEndsAt: Int64
}
