/// Sessions, found by id, by secret and by owner.
///
/// As in every role: a write is durable when it returns, its ``Change`` has been told to the observers here, and a store
/// that can't be reached or trusted throws ``StateSurfaceError``.
package protocol SessionStore: Sendable {
    /// - Throws: `.duplicate` when the id is taken; `.ownerGone` when its family has ended or its user is disabled.
    func insert(session: SessionRecord) async throws
    func session(id: String) async throws -> SessionRecord?
    /// The session whose current or previous secret hashes to this.
    func session(secretHash: [UInt8]) async throws -> SessionRecord?
    /// Replaces the record if its stored `version` is still `record.version`; stores it with `version + 1`.
    ///
    /// States only move to the right, and an owner stays: what would break that is not written.
    /// - Returns: whether it was replaced.
    /// - Throws: `.ownerGone`, as ``insert(session:)`` does.
    func replace(session record: SessionRecord) async throws -> Bool
    /// Reads a session and replaces it by what `decide` makes of it, both in one transaction.
    /// - Parameter decide: given the record, or nil where there is none; answers what to write (nothing: nil) and what
    ///   to return. It may be asked more than once, so it must have no effects.
    /// - Returns: what `decide` returned, once that is durable; nil when another writer was faster: ask again.
    /// - Throws: `.ownerGone` when the session would belong to a family that has ended or a user who is disabled.
    func change<Outcome: Sendable>(
        sessionID: String,
        _ decide: @escaping @Sendable (SessionRecord?) -> (next: SessionRecord?, outcome: Outcome)
    ) async throws -> Outcome?
    /// Live sessions (state live, and not past their expiry at `now`) of an owner, newest first.
    func liveSessions(tenantID: String, userID: String, now: Milliseconds, limit: Int) async throws -> [SessionRecord]
    /// Any sessions, newest first, for operators.
    func sessions(limit: Int) async throws -> [SessionRecord]
    /// Live sessions of a user beyond `limit`, a bounded number: guests before homes, of each the longest unused first.
    /// `sparing` is never one of them.
    func surplusSessions(userID: String, sparing: String, limit: Int) async throws -> [SurplusSession]
    /// Moves `lastSeenAt` forward (never back) for many live sessions at once. Not a change of version, no ``Change``.
    func touch(sessions: [(id: String, lastSeenAt: Milliseconds)]) async throws
    /// Marks live sessions past their end as expired, and forgets tombstones past their absolute end with whatever else
    /// of the store is over. A bounded batch.
    /// - Returns: the ids that expired in this batch.
    func expireSessions(now: Milliseconds, limit: Int) async throws -> [String]
}
