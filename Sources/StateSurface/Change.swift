/// What the feed tells: something in the store is no longer what a memory of it may say.
///
/// Observers hear of a change made here before the call that made it returns, and of one made by another process or
/// node within a second. Hearing of the same change twice is normal.
///
/// What is new under an id of its own (a session or account just inserted) is told here only: no other node can
/// remember anything of it. Two writes made here at once may be told in either order; compare epochs.
package enum Change: Sendable, Equatable {
    /// A session was written: forget what is cached of it. State and epoch are those after the write.
    case session(id: String, state: StoredSessionState, epoch: Int64)
    /// A refresh family ended (its `Revocation` is told as well).
    case familyEnded(id: String)
    /// A family has a new access token, good until then: what an older one admitted lives on.
    /// `key` is the thumbprint of the key that signed it, where that is known.
    case familyRefreshed(id: String, tokenExpiresAt: Milliseconds, key: String? = nil)
    case revoked(Revocation)
    /// An account was written (password, scope, disabled).
    case account(userID: String)
    /// A node has begun to make tokens of a reach that no living node had.
    case tokenReach(TokenReach)
    /// The session's event stream has grown to this number.
    case events(sessionID: String, lastSeq: Int64)
    /// The feed had a gap: everything remembered must be asked again.
    case reset
}

/// Handle of a subscription; cancel it to hear no more.
package struct Subscription: Sendable {
    private let onCancel: @Sendable () -> Void
    package init(_ onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }
    package func cancel() { onCancel() }
}
