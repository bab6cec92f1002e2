/// Who was judged before something is made for them. It is made only if they are still as they were judged, which the
/// store checks in the transaction that makes it: a password change or a disabling in between is not outlived.
package struct JudgedOwner: Sendable, Equatable {
    /// The account's ``AccountRecord/credentialEpoch``; nil where no account was judged.
    package var credentialEpoch: Int64?
    /// The client that authenticated itself; nil where none did.
    package var clientID: String?

    package init(credentialEpoch: Int64? = nil, clientID: String? = nil) {
        self.credentialEpoch = credentialEpoch
        self.clientID = clientID
    }
}

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

/// A session beyond what its user may have.
package struct SurplusSession: Sendable, Equatable {
    package let id: String
    /// The live family that is at home in it; nil for a guest.
    package let homeOf: String?

    package init(id: String, homeOf: String?) {
        self.id = id
        self.homeOf = homeOf
    }
}

extension StateSurfaceError {
    /// Who something was to be made for was disabled, given a new password or ended since they were judged.
    package static let ownerGone = StateSurfaceError(
        .ownerGone, "the account, client or family has changed since it was judged; nothing was made")
}
