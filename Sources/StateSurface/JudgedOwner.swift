/// The versions of the account and the client that were checked before a record is created for them.
///
/// The store compares them in the transaction that creates the record. If a password was changed, or an account or
/// client disabled, after the check, nothing is created.
package struct JudgedOwner: Sendable, Equatable {
    /// The account's ``AccountRecord/credentialEpoch``; nil if no account was checked.
    package var credentialEpoch: Int64?
    /// The client that authenticated; nil if none did.
    package var clientID: String?

    /// What was checked; nothing by default.
    package init(credentialEpoch: Int64? = nil, clientID: String? = nil) {
        self.credentialEpoch = credentialEpoch
        self.clientID = clientID
    }
}
