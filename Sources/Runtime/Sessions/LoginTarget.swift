/// The session that a login is for, found by its secret.
package struct LoginTarget: Sendable, Equatable {
    /// The session as it was when it was found.
    package let session: SessionSnapshot
    /// False if the secret is the previous one, within its grace.
    package let isCurrentSecret: Bool
}
