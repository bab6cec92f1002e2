import StateSurface

/// What a ``MemoryStore`` holds. The operations are extensions, in the file of their role.
///
/// An operation checks everything before it changes anything, since nothing undoes it if it throws.
struct MemoryTables: Sendable {
    var sessions: [String: SessionRecord] = [:]
    var accounts: [String: AccountRecord] = [:]
    /// The users that external identities map to.
    var identities: [IdentityKey: String] = [:]
    var clients: [String: ClientRecord] = [:]
    var families: [String: FamilyRecord] = [:]
    /// Every token that a family has or had, by its hash.
    var refreshTokens: [[UInt8]: (familyID: String, position: Int64)] = [:]
    var revocations: [RevocationKey: Revocation] = [:]
    /// The reach of the tokens that nodes issue, and until when the last of them is good.
    var reaches: [TokenReach: Milliseconds] = [:]
    /// The executions of each session by their intents' ids.
    var executions: [String: [String: ExecutionRecord]] = [:]
    /// The events of each session that are kept, oldest first.
    var events: [String: [EventRecord]] = [:]
    /// The number of the last event of each session, kept or not.
    var lastNumbers: [String: Int64] = [:]
    var artifacts: [ArtifactKey: ArtifactRecord] = [:]
    var tickets: [[UInt8]: TicketRecord] = [:]
    /// When each node was last seen.
    var nodes: [String: Milliseconds] = [:]
    /// The thumbprints of the keys that nodes sign with.
    var signingKeys: Set<String> = []

    /// What was changed and not told yet, oldest first.
    var changes: [Change] = []

    // What tests count.
    var touches = 0
    var accountReads = 0
    var beats = 0

    /// Refuses texts with a NUL, as the databases do, which cannot keep one.
    func refuseNUL(in texts: String?...) throws {
        if texts.contains(where: { $0?.utf8.contains(0) == true }) {
            throw StateSurfaceError(.failed, "a text holds a NUL character, which a store does not keep")
        }
    }
}

/// What an external identity is found by.
struct IdentityKey: Hashable, Sendable {
    let issuer: String
    let subject: String
    let tenantID: String
}

/// What a revocation is found by.
struct RevocationKey: Hashable, Sendable {
    let kind: Revocation.Kind
    let id: String

    init(_ revocation: Revocation) {
        kind = revocation.kind
        id = revocation.id
    }
}

/// What an artifact is found by.
struct ArtifactKey: Hashable, Sendable {
    let tenantID: String
    let userID: String
    let name: String
}
