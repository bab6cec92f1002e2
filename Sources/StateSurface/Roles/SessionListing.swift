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
