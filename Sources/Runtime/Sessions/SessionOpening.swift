/// A change that issues a new secret.
package struct SessionOpening: Sendable {
    /// The change to write.
    package let change: SessionChange
    let secret: SessionSecret

    /// The session's id.
    package var sessionID: String { change.sessionID }
}
