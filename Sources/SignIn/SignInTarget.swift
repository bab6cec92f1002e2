import Runtime

/// The live session of a sign-in, and the hash of its secret.
///
/// It is looked up before the account is authenticated, so that the slower of two concurrent sign-ins on one anonymous
/// session gets a conflict and not an invalid secret.
package struct SignInTarget: Sendable {
    let session: SessionSnapshot
    let secretHash: [UInt8]

    /// A session and the SHA-256 of the secret that was presented for it.
    package init(session: SessionSnapshot, secretHash: [UInt8]) {
        self.session = session
        self.secretHash = secretHash
    }
}
