/// A new password, and what of the user's stays.
package struct PasswordChange: Sendable {
    package var userID: String
    package var passwordHash: String
    /// The account's epoch when its old password was judged; nil where none was asked for.
    package var judgedEpoch: Int64?
    /// The family of the caller: it stays, and must be live. Its home and `keptSessionID` stay of its sessions.
    package var keptFamilyID: String?
    package var keptSessionID: String?
    package var at: Milliseconds
    package var revokedUntil: Milliseconds

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
