/// An account. Its e-mail is unique within the tenant, compared by ``emailKey``.
package struct AccountRecord: Sendable, Equatable {
    /// The id, `usr_…`.
    package var userID: String
    /// The tenant.
    package var tenantID: String
    /// The e-mail as it was given; empty if there is none.
    package var email: String
    /// The e-mail in the form in which it is compared: trimmed, with ASCII letters in lower case.
    package var emailKey: String
    /// The password hash as a PHC string; nil for accounts without a password, which sign in through an external
    /// issuer.
    package var passwordHash: String?
    /// The scope that its access tokens may have.
    package var scope: [String]
    /// Whether the account is disabled.
    package var disabled: Bool
    /// When it was created.
    package var createdAt: Milliseconds
    /// The counter for compare-and-set.
    package var version: Int64
    /// Whether the e-mail is verified. It is for accounts that the operator created, and is not for registrations.
    package var emailVerified: Bool
    /// Increased by a new password and by disabling, in the transaction that ends the account's sessions and families.
    /// A record that is created after a check of the account is created only if this value is unchanged.
    package var credentialEpoch: Int64
    /// The name for people, as an identity provider or the operator gave it; nil if there is none.
    package var name: String?
    /// The groups, as the latest sign-in through an identity provider or the operator gave them: at most 100, each of
    /// 1 to 128 bytes without control characters.
    package var groups: [String]

    /// By default an enabled account whose e-mail is not verified, without a name and groups.
    package init(
        userID: String, tenantID: String, email: String, emailKey: String, passwordHash: String?,
        scope: [String], disabled: Bool = false, createdAt: Milliseconds, version: Int64 = 0,
        emailVerified: Bool = false, credentialEpoch: Int64 = 0, name: String? = nil, groups: [String] = []
    ) {
        self.userID = userID
        self.tenantID = tenantID
        self.email = email
        self.emailKey = emailKey
        self.passwordHash = passwordHash
        self.scope = scope
        self.disabled = disabled
        self.createdAt = createdAt
        self.version = version
        self.emailVerified = emailVerified
        self.credentialEpoch = credentialEpoch
        self.name = name
        self.groups = groups
    }
}
