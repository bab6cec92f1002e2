/// The role for lists that operators page through. A page is found by the key of the entry before it, so the last page
/// costs as much as the first.
package protocol ListingStore: Sendable {
    /// Live sessions in the order of their ids, beginning after `id`, at most `limit`.
    /// - Parameters:
    ///   - id: the id of the last session of the page before; empty for the first page.
    ///   - userID: only sessions of this user; nil for all.
    func liveSessions(
        after id: String, userID: String?, now: Milliseconds, limit: Int
    ) async throws -> [SessionListing]
    /// The users who have granted something to a client, or whose consent is remembered, in the order of their ids, beginning after `userID`.
    func grantingUsers(after userID: String, limit: Int) async throws -> [String]
}

/// A session as operators see it: without secrets, metadata or family.
package struct SessionListing: Sendable, Equatable {
    /// The id, `ses_…`.
    package let id: String
    /// The state.
    package let state: StoredSessionState
    /// The owner's tenant; nil for an anonymous session.
    package let tenantID: String?
    /// The owner; nil for an anonymous session.
    package let userID: String?
    /// The e-mail of the owner's account, where there is one.
    package let email: String?
    /// When it was made.
    package let createdAt: Milliseconds
    /// When it was last used, up to a minute late.
    package let lastSeenAt: Milliseconds
    /// When it ends if it is not used again.
    package let expiresAt: Milliseconds
}
