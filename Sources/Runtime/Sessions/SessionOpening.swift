/// A change that hands out a new secret.
package struct SessionOpening: Sendable {
    package let change: SessionChange
    let secret: SessionSecret

    package var sessionID: String { change.sessionID }
}
