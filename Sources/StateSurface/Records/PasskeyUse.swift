/// The use of a passkey, as it is stored.
package struct PasskeyUse: Sendable, Equatable {
    /// The passkey.
    package var credentialID: [UInt8]
    /// The account that it was judged to sign in to.
    package var userID: String
    /// The stored counter that the use was judged by.
    package var judgedSignCount: Int64
    /// The counter after the use.
    package var signCount: Int64
    /// Whether it is copied to other devices now.
    package var isBackedUp: Bool
    /// When it was used.
    package var at: Milliseconds

    /// - Parameter judgedSignCount: the stored counter; the use is recorded only while it is still stored.
    package init(
        credentialID: [UInt8], userID: String, judgedSignCount: Int64, signCount: Int64, isBackedUp: Bool,
        at: Milliseconds
    ) {
        self.credentialID = credentialID
        self.userID = userID
        self.judgedSignCount = judgedSignCount
        self.signCount = signCount
        self.isBackedUp = isBackedUp
        self.at = at
    }
}
