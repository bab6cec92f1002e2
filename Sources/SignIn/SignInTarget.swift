import Runtime

/// A live session that a sign-in is about, and the secret that opens it.
///
/// It is looked up before the account is proved: of two sign-ins racing for one anonymous session the slower one is then
/// told of the conflict, instead of finding its secret outdated.
package struct SignInTarget: Sendable {
    let session: SessionSnapshot
    let secretHash: [UInt8]

    package init(session: SessionSnapshot, secretHash: [UInt8]) {
        self.session = session
        self.secretHash = secretHash
    }
}
