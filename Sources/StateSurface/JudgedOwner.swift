/// The account or client that was judged before something is made for it. It is made only if they are still as they
/// were judged, which the store checks in the transaction that makes it: a password change or a disabling in between is
/// not outlived.
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
