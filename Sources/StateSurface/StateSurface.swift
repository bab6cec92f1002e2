/// The one place where state lives: sessions, accounts, refresh families, revocations, artifacts, the execution log.
///
/// Every write is durable when it returns, and its `Change`s have been told to the observers here.
/// Every call throws ``StateSurfaceError`` with code `.unavailable` when the store can't be reached, `.corrupt`
/// or `.full` when it can't be trusted or written.
package protocol StateSurface: Sendable {
    // MARK: The feed
    /// Calls back on every change, in order of commit, on a thread of the store's. The callback must be quick.
    func subscribe(_ observer: @escaping @Sendable (Change) -> Void) -> Subscription
    /// How long ago the feed last proved to be alive. Always near zero for an embedded store.
    func sinceLastBeat() -> Duration
    /// Whether the feed is known to be broken, and has not proved to be alive since.
    func feedIsLost() -> Bool
    /// Asks the store for a sign of life. Throws when it has none.
    func ping() async throws
    /// Stops the feed and closes the store.
    func close() async

    // MARK: Sessions
    /// Throws `.ownerGone` when its family has ended or its user is disabled.
    func insert(session: SessionRecord) async throws
    func session(id: String) async throws -> SessionRecord?
    /// The session whose current or previous secret hashes to this.
    func session(secretHash: [UInt8]) async throws -> SessionRecord?
    /// Replaces the record if its stored `version` is still `record.version`; stores it with `version + 1`.
    /// - Returns: whether it was replaced.
    func replace(session record: SessionRecord) async throws -> Bool
    /// Reads a session and replaces it by what `decide` makes of it, both in one transaction.
    /// - Parameter decide: given the record, or nil where there is none; answers what to write (nothing: nil) and what
    ///   to return. It may be asked more than once, so it must have no effects.
    /// - Returns: what `decide` returned, once that is durable; nil when somebody else wrote first: ask again.
    /// - Throws: `.ownerGone` when the session would belong to a family that has ended or a user who is disabled.
    func change<Outcome: Sendable>(
        sessionID: String,
        _ decide: @escaping @Sendable (SessionRecord?) -> (next: SessionRecord?, outcome: Outcome)
    ) async throws -> Outcome?
    /// Live (state live and not past expiry at `now`) sessions of an owner, newest first.
    func liveSessions(tenantID: String, userID: String, now: Milliseconds, limit: Int) async throws -> [SessionRecord]
    /// Any sessions, newest first, for operators.
    func sessions(limit: Int) async throws -> [SessionRecord]
    /// Ends every live session of the family. Returns the ids ended.
    func endSessions(familyID: String, at: Milliseconds) async throws -> [String]
    /// Live sessions of a user beyond `limit`, a bounded number: guests before homes, of each the longest unused first.
    /// `sparing` is never one of them.
    func surplusSessions(userID: String, sparing: String, limit: Int) async throws -> [SurplusSession]
    /// Moves `last_seen_at` forward (never back) for many live sessions at once. Not a change of version, no `Change`.
    func touch(sessions: [(id: String, lastSeenAt: Milliseconds)]) async throws
    /// Marks live sessions past their end as expired, forgets tombstones past their absolute end. Bounded batch.
    /// - Returns: the ids that expired in this batch.
    func expireSessions(now: Milliseconds, limit: Int) async throws -> [String]

    // MARK: Accounts, identities and clients
    /// Throws `.duplicate` when the tenant already has the e-mail.
    func insert(account: AccountRecord) async throws
    func account(userID: String) async throws -> AccountRecord?
    func accounts(emailKey: String) async throws -> [AccountRecord]
    func accounts(limit: Int) async throws -> [AccountRecord]
    /// Replaces by `version`, like sessions. Returns whether it was replaced.
    func replace(account record: AccountRecord) async throws -> Bool
    /// In one transaction: the new password, a new epoch of the account, and the end of every family and session of the
    /// user that is not kept, with their tokens. Returns the session ids ended.
    /// - Throws: `.ownerGone`, with nothing done, when the account is no longer as it was judged, there is none, or the
    ///   caller's family has ended.
    func changePassword(_ change: PasswordChange) async throws -> [String]
    /// In one transaction: disabled flag set, a new epoch of the account, every family and session of the user ended,
    /// and every token revoked that names a version of the account before this one, or that names none and was issued
    /// until `at`.
    func disable(userID: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> Bool
    /// The user that an external (issuer, subject) maps to; made with `create` the first time, atomically.
    func identity(
        issuer: String, subject: String, tenantID: String, create: @escaping @Sendable () -> AccountRecord
    ) async throws -> AccountRecord
    func insert(client: ClientRecord) async throws
    func client(id: String) async throws -> ClientRecord?
    func clients(limit: Int) async throws -> [ClientRecord]
    /// In one transaction: disabled flag set; every family that was opened for the client and every session of its own
    /// or of such a family ended; every token issued to the client itself revoked, whenever it was made.
    /// - Returns: whether there is such a client.
    func disable(clientID: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> Bool

    // MARK: Refresh families and revocations
    /// Throws `.ownerGone` when those it is opened for are no longer as they were judged.
    func insert(family: FamilyRecord, judged: JudgedOwner) async throws
    func family(id: String) async throws -> FamilyRecord?
    /// The family a refresh token (by SHA-256) belongs or ever belonged to, with the token's position in the chain.
    func family(tokenHash: [UInt8]) async throws -> (family: FamilyRecord, position: Int64)?
    /// Replaces a live family if its stored counter is still `record.counter - 1`, and remembers `currentHash` as a
    /// token of it. Returns whether it was replaced: exactly one of any number of racers wins.
    func rotate(family record: FamilyRecord) async throws -> Bool
    /// Notes that a live family has an access token that is good until then, signed with the key of this thumbprint.
    /// Never takes anything back. Returns whether the family is live.
    func extend(familyID: String, tokenExpiresAt: Milliseconds, key: String?) async throws -> Bool
    /// Changes the opaque binding of a live family.
    func bind(familyID: String, to binding: String) async throws
    /// In one transaction: the family ended, its access tokens revoked at least until `revokedUntil`, its home and guest
    /// sessions ended. Harmless when it has ended before. Returns the session ids ended.
    func endFamily(id: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> [String]
    /// Live families of a user.
    func liveFamilies(userID: String) async throws -> [FamilyRecord]
    func revoke(_ revocation: Revocation) async throws
    /// Every revocation that has not expired: what a node remembers when it starts or its feed had a gap.
    func revocations(now: Milliseconds) async throws -> [Revocation]
    /// Notes that a node makes access tokens of this reach. Every one it makes before it says so again is worth
    /// nothing any more at `goodUntil`; revocations of families and subjects last at least as long.
    func note(reach: TokenReach, goodUntil: Milliseconds) async throws
    /// What covers the tokens of all nodes that may still be good; nil when no node has noted any.
    func tokenReach(now: Milliseconds) async throws -> TokenReach?

    // MARK: The execution log and the event stream
    /// Write-ahead: records the intent unless its id is taken in this session.
    /// - Returns: nil when recorded, else the record that holds the id.
    func begin(execution: ExecutionRecord) async throws -> ExecutionRecord?
    /// Records the outcome and appends it to the session's stream in one transaction. `payload` is given the new
    /// sequence number and returns the event's JSON. Returns the event; the recorded one if it was finished before.
    func finish(
        sessionID: String, intentID: String, at: Milliseconds, payload: @escaping @Sendable (Int64) -> String
    ) async throws -> EventRecord
    func execution(sessionID: String, intentID: String) async throws -> ExecutionRecord?
    /// Executions that began but never finished and whose node is no longer alive (`nodeID` not in the living).
    func interruptedExecutions(livingNodes: Set<String>, limit: Int) async throws -> [ExecutionRecord]
    /// Events after `seq`, oldest first.
    func events(sessionID: String, after seq: Int64, limit: Int) async throws -> [EventRecord]
    /// First kept and last sequence number of the stream; (1, 0) when it is empty.
    func eventBounds(sessionID: String) async throws -> (first: Int64, last: Int64)
    /// Records that a node lives; returns the ids of nodes seen within `within` ms.
    func beat(nodeID: String, at: Milliseconds, within: Milliseconds) async throws -> Set<String>

    // MARK: Artifacts
    /// Stores a new version as a draft if the newest version is still `expectedVersion` (0: none yet).
    /// - Returns: the stored record, or nil when the version has moved on.
    func put(artifact: ArtifactRecord, expectedVersion: Int64?) async throws -> ArtifactRecord?
    func artifact(tenantID: String, userID: String, name: String) async throws -> ArtifactRecord?
    func artifacts(tenantID: String, userID: String, limit: Int) async throws -> [ArtifactRecord]
    /// Moves the newest version from one state to another if both version and state are still those. nil: they are not.
    func transition(
        tenantID: String, userID: String, name: String, version: Int64, from: ArtifactRecord.State,
        to: ArtifactRecord.State, at: Milliseconds
    ) async throws -> ArtifactRecord?

    // MARK: Shared between nodes
    /// Keeps a ticket until it is taken or expires, unless its session has `limit` of them already.
    func put(ticket: TicketRecord, limit: Int, now: Milliseconds) async throws -> Bool
    /// A ticket that nobody has taken, left where it is.
    func ticket(hash: [UInt8]) async throws -> TicketRecord?
    /// Removes a ticket and returns it: of any number of racers one gets it.
    func take(ticketHash: [UInt8]) async throws -> TicketRecord?
    /// Thumbprints of the active signing keys that nodes of this store have registered.
    func registeredKeys() async throws -> Set<String>
    /// Registers the key a node signs with, and drops those it knows to be superseded, if it holds one of those that
    /// are registered or none is: of two nodes that begin with keys of their own at once, one is refused.
    func register(signingKey: String, held: Set<String>, superseded: Set<String>) async throws -> Bool
    /// A secret that all nodes of this store have in common: the candidate of whichever of them came first.
    func sharedSecret(name: String, candidate: [UInt8]) async throws -> [UInt8]
    /// Counters that must survive a restart (failed logins): adds and returns the sum within the window.
    func count(key: String, adding: Int64, window: Milliseconds, now: Milliseconds) async throws -> Int64
}

extension StateSurface {
    /// For stores that keep no clients.
    package func disable(clientID: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> Bool { false }

    /// For stores that know nothing better: two steps, of which the second fails if the first is no longer true.
    package func change<Outcome: Sendable>(
        sessionID: String,
        _ decide: @escaping @Sendable (SessionRecord?) -> (next: SessionRecord?, outcome: Outcome)
    ) async throws -> Outcome? {
        let (next, outcome) = decide(try await session(id: sessionID))
        guard let next else { return outcome }
        return try await replace(session: next) ? outcome : nil
    }
}

/// Why the store could not do what it was asked.
package struct StateSurfaceError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable {
        case unavailable, duplicate, corrupt, full, misconfigured, failed
        /// The account, client or family that something was to be made for has changed since it was judged.
        case ownerGone
    }
    package let code: Code
    /// For the operator's log. Never holds a value of a row.
    package let message: String
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
    package var description: String { "\(code.rawValue): \(message)" }
}
