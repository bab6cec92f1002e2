/// The role for revocations of access tokens, and for the lifetimes of tokens that they must cover.
package protocol RevocationStore: Sendable {
    /// Adds a revocation, or extends the stored one. It is never reduced.
    func revoke(_ revocation: Revocation) async throws
    /// All revocations that have not expired, which a node reads when it starts and after an interruption of the feed.
    func revocations(now: Milliseconds) async throws -> [Revocation]
    /// Records that a node issues access tokens of this reach. Every token that it issues before the next call is
    /// invalid at `goodUntil`; revocations of families and subjects are kept at least until then.
    func note(reach: TokenReach, goodUntil: Milliseconds) async throws
    /// The reach that covers all tokens that may still be valid; nil if no node has recorded one.
    func tokenReach(now: Milliseconds) async throws -> TokenReach?
}
