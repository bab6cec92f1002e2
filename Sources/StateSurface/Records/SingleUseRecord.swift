/// A record that is taken once: a pending login, the challenge of a passkey, an authorization code, a token id that was
/// seen. It is found by a hash, so it gives no access by itself.
package struct SingleUseRecord: Sendable, Equatable {
    /// What it is, for example `pending_login`. Records of different kinds never meet.
    package var kind: String
    /// SHA-256 of the value that it is found by.
    package var hash: [UInt8]
    /// Whose it is, for the limit per owner: a session id, a user id, or empty.
    package var owner: String
    /// What it says.
    package var payload: [UInt8]
    /// When it can no longer be taken.
    package var expiresAt: Milliseconds

    /// - Parameter owner: empty for a record that counts for no owner's limit.
    package init(kind: String, hash: [UInt8], owner: String, payload: [UInt8], expiresAt: Milliseconds) {
        self.kind = kind
        self.hash = hash
        self.owner = owner
        self.payload = payload
        self.expiresAt = expiresAt
    }
}
