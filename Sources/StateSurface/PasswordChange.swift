/// A new password for an account, and the family and session that stay alive.
package struct PasswordChange: Sendable {
    /// The account.
    package var userID: String
    /// The new password as a PHC string.
    package var passwordHash: String
    /// The account's credential epoch when the old password was checked; nil if it was not checked.
    package var judgedEpoch: Int64?
    /// The caller's family, which must be live. It stays, with its home session and ``keptSessionID``.
    package var keptFamilyID: String?
    /// A session of the kept family that stays too.
    package var keptSessionID: String?
    /// The time of the change, which is the end of the sessions.
    package var at: Milliseconds
    /// The time until which the revocations are kept at least.
    package var revokedUntil: Milliseconds

    /// A change with these parts.
    package init(
        userID: String, passwordHash: String, judgedEpoch: Int64? = nil, keptFamilyID: String? = nil,
        keptSessionID: String? = nil, at: Milliseconds, revokedUntil: Milliseconds
    ) {
        self.userID = userID
        self.passwordHash = passwordHash
        self.judgedEpoch = judgedEpoch
        self.keptFamilyID = keptFamilyID
        self.keptSessionID = keptSessionID
        self.at = at
        self.revokedUntil = revokedUntil
    }
}
