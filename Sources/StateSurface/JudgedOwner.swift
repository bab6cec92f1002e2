/// The versions of the account and the client that were checked before a record is created for them.
///
/// The store compares them in the transaction that creates the record. If a password was changed, or an account or
/// client disabled, or the family of the token that asks has ended, after the check, nothing is created.
package struct JudgedOwner: Sendable, Equatable {
    /// The account's ``AccountRecord/credentialEpoch``; nil if no account was checked.
    package var credentialEpoch: Int64?
    /// The client that authenticated; nil if none did.
    package var clientID: String?
    /// The family of the token that asks, which must be live; nil if none asks.
    package var familyID: String?

    /// What was checked; nothing by default.
    package init(credentialEpoch: Int64? = nil, clientID: String? = nil, familyID: String? = nil) {
        self.credentialEpoch = credentialEpoch
        self.clientID = clientID
        self.familyID = familyID
    }
}
