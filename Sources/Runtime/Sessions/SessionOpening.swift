import StateSurface

/// A change that issues a new secret.
package struct SessionOpening: Sendable {
    /// The change to write.
    package let change: SessionChange
    let secret: SessionSecret

    /// The session's id.
    package var sessionID: String { change.sessionID }

    /// Whose session it will be; nil for an anonymous one.
    package var userID: String? {
        switch change.kind {
        case .create(let record): record.userID
        case .event(.upgrade(let claim)), .event(.resume(let claim)): claim.owner.userID
        case .event: nil
        }
    }
}
