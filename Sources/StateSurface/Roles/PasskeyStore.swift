/// The role for the passkeys of accounts.
package protocol PasskeyStore: Sendable {
    /// Inserts a passkey, if the account has fewer than `limit`.
    /// - Returns: false, without inserting it, if the account has that many. Of several concurrent calls, no more
    ///   succeed than there is room for.
    /// - Throws: `.duplicate` if there is one with this credential id, of any account; `.ownerGone` if the account
    ///   does not exist or is disabled, or what was checked has changed.
    func insert(passkey record: PasskeyRecord, judged: JudgedOwner, limit: Int) async throws -> Bool
    /// The passkey with this credential id, or nil.
    func passkey(credentialID: [UInt8]) async throws -> PasskeyRecord?
    /// The passkeys of a user, oldest first.
    func passkeys(userID: String) async throws -> [PasskeyRecord]
    /// Stores the use of a passkey, if it is still there and its stored counter is the judged one.
    /// - Returns: whether it was stored. Of several concurrent calls for one counter that goes on, one succeeds.
    func use(passkey use: PasskeyUse) async throws -> Bool
    /// Removes a passkey of a user.
    /// - Returns: whether the user had it.
    func removePasskey(credentialID: [UInt8], userID: String) async throws -> Bool
}
