/// Revocations of access tokens, and how far the tokens reach that they have to cover.
package protocol RevocationStore: Sendable {
    /// Adds a revocation, or widens the one that is there: it only ever grows.
    func revoke(_ revocation: Revocation) async throws
    /// Every revocation that has not expired: what a node remembers when it starts or its feed had a gap.
    func revocations(now: Milliseconds) async throws -> [Revocation]
    /// Notes that a node makes access tokens of this reach. Every one it makes before it says so again is worth
    /// nothing any more at `goodUntil`; revocations of families and subjects last at least as long.
    func note(reach: TokenReach, goodUntil: Milliseconds) async throws
    /// What covers the tokens of all nodes that may still be good; nil when no node has noted any.
    func tokenReach(now: Milliseconds) async throws -> TokenReach?
}
