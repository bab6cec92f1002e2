import Encodings
import StateSurface

/// The roles of the store that the built-in realms use.
typealias RealmStore = SessionStore & ArtifactStore

/// The owner on whose behalf an intent is carried out.
public struct RealmContext: Sendable {
    /// The tenant of the session's owner.
    public let tenantID: String
    /// The session's owner. Data of others must be treated as if it did not exist.
    public let userID: String
    let sessionID: String
    let uses: SessionUses
    let clock: @Sendable () -> Milliseconds
    private let surface: (any RealmStore)?

    /// A context for testing a realm. It has no session and no store, so the built-in realms answer that the store
    /// can't be reached.
    public init(tenantID: String, userID: String) {
        self.init(
            tenantID: tenantID, userID: userID, sessionID: "", store: nil, uses: SessionUses(), clock: { 0 })
    }

    init(
        tenantID: String, userID: String, sessionID: String, store: (any RealmStore)?, uses: SessionUses,
        clock: @escaping @Sendable () -> Milliseconds
    ) {
        self.tenantID = tenantID
        self.userID = userID
        self.sessionID = sessionID
        self.surface = store
        self.uses = uses
        self.clock = clock
    }

    /// The store, for the built-in realms.
    var store: any RealmStore {
        get throws(StateSurfaceError) {
            guard let surface else { throw StateSurfaceError(.unavailable, "this context has no store") }
            return surface
        }
    }
}
