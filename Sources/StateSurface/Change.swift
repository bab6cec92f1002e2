/// A change in the store, as the feed reports it, so that caches can be invalidated.
///
/// A change made by this process is reported before the call that made it returns, one made by another process or node
/// within a second. The same change may be reported twice.
///
/// An inserted session or account is reported only in the process that inserted it, because no other node can have
/// cached it. Two concurrent writes of one process may be reported in either order: compare epochs.
package enum Change: Sendable, Equatable {
    /// A session was written, so cached copies are invalid. State and epoch are those after the write.
    case session(id: String, state: StoredSessionState, epoch: Int64)
    /// A newer token of the issuer and subject of this origin, valid until then, extends what older ones opened in the
    /// session. It is not stored, only reported.
    case sessionExtended(id: String, origin: String, tokenExpiresAt: Milliseconds)
    /// A refresh family ended. Its revocation is reported as well.
    case familyEnded(id: String)
    /// A family has a new access token that is valid until then, which extends what older tokens opened. `key` is the
    /// thumbprint of the key that signed it, if known.
    case familyRefreshed(id: String, tokenExpiresAt: Milliseconds, key: String? = nil)
    /// A revocation was added or extended.
    case revoked(Revocation)
    /// An account was written, such as its password, its scope or whether it is disabled.
    case account(userID: String)
    /// A node issues tokens with a longer lifetime or tolerance than any node before.
    case tokenReach(TokenReach)
    /// The session's event stream has been extended up to this sequence number.
    case events(sessionID: String, lastSeq: Int64)
    /// A session of an agent protocol ended, so cached copies are invalid. `hash` is what it is found by.
    case protocolSessionEnded(hash: [UInt8])
    /// The feed was interrupted, so all cached data must be read again.
    case reset
}
