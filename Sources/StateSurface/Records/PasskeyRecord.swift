/// A passkey of an account. Nothing in it is secret.
package struct PasskeyRecord: Sendable, Equatable {
    /// The id that the authenticator gave it, 1 to 1023 bytes; unique among all accounts.
    package var credentialID: [UInt8]
    /// The account that it signs in to.
    package var userID: String
    /// What its owner calls it; empty if it has no name.
    package var name: String
    /// DER SubjectPublicKeyInfo.
    package var publicKey: [UInt8]
    /// The COSE number of its signature algorithm.
    package var algorithm: Int64
    /// The authenticator's counter at the last use; 0 for an authenticator without one.
    package var signCount: Int64
    /// Whether it may be copied to other devices; never changes.
    package var isBackupEligible: Bool
    /// Whether it had been copied at the last use.
    package var isBackedUp: Bool
    /// The model of the authenticator, 16 bytes; zeros if it does not say it.
    package var aaguid: [UInt8]
    /// How a browser may reach the authenticator.
    package var transports: [String]
    /// When it was registered.
    package var createdAt: Milliseconds
    /// When it was last used to sign in; nil for never.
    package var lastUsedAt: Milliseconds?

    /// By default a passkey without a name that was not used yet.
    package init(
        credentialID: [UInt8], userID: String, name: String = "", publicKey: [UInt8], algorithm: Int64,
        signCount: Int64, isBackupEligible: Bool, isBackedUp: Bool, aaguid: [UInt8], transports: [String],
        createdAt: Milliseconds, lastUsedAt: Milliseconds? = nil
    ) {
        self.credentialID = credentialID
        self.userID = userID
        self.name = name
        self.publicKey = publicKey
        self.algorithm = algorithm
        self.signCount = signCount
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
        self.aaguid = aaguid
        self.transports = transports
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
    }
}
