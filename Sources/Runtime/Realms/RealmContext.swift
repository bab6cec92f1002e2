import Encodings
import StateSurface

/// On whose behalf an intent is carried out.
public struct RealmContext: Sendable {
    /// The tenant of the session's owner.
    public let tenantID: String
    /// The session's owner. What belongs to somebody else must look as if it did not exist.
    public let userID: String
    let sessionID: String
    let store: any StateSurface
    let uses: SessionUses
    let clock: @Sendable () -> Milliseconds
}
