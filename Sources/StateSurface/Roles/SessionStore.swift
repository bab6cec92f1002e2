/// The role for sessions, which are found by id, by secret and by owner.
///
/// In this as in every role, a write is durable when it returns, its ``Change`` has been reported to the observers in
/// this process, and ``StateSurfaceError`` is thrown if the store cannot be reached or is damaged.
package protocol SessionStore: Sendable {
    /// Inserts a session.
    /// - Throws: `.duplicate` if the id exists; `.ownerGone` if its family has ended or its user is disabled.
    func insert(session: SessionRecord) async throws
    /// The session with this id, or nil.
    func session(id: String) async throws -> SessionRecord?
    /// The session whose current or previous secret has this SHA-256, or nil.
    func session(secretHash: [UInt8]) async throws -> SessionRecord?
    /// Replaces the record if its stored `version` is `record.version`, and stores it with `version + 1`.
    ///
    /// A state is never changed back and an owner is never changed: such a record is not written.
    /// - Returns: whether it was replaced.
    /// - Throws: `.ownerGone`, as ``insert(session:)`` does.
    func replace(session record: SessionRecord) async throws -> Bool
    /// Reads a session and replaces it by the record that `decide` returns, in one transaction.
    /// - Parameter decide: gets the record, or nil if there is none, and returns the record to write (nil for none) and
    ///   the outcome. It may be called more than once, so it must have no effects.
    /// - Returns: the outcome, when it is durable; nil if another writer changed the session, in which case the call
    ///   should be repeated.
    /// - Throws: `.ownerGone` if the session would belong to a family that has ended or to a disabled user.
    func change<Outcome: Sendable>(
        sessionID: String,
        _ decide: @escaping @Sendable (SessionRecord?) -> (next: SessionRecord?, outcome: Outcome)
    ) async throws -> Outcome?
    /// The live sessions of an owner that have not expired at `now`, newest first, at most `limit`.
    func liveSessions(tenantID: String, userID: String, now: Milliseconds, limit: Int) async throws -> [SessionRecord]
    /// Sessions for operators, newest first, at most `limit`.
    /// - Parameters:
    ///   - userID: only those of this user; nil for all.
    ///   - now: only those that live at this time; nil for ended and expired ones too.
    func sessions(userID: String?, liveAt now: Milliseconds?, limit: Int) async throws -> [SessionRecord]
    /// Increases `lastSeenAt` of many live sessions. It does not change their version and reports no ``Change``.
    func touch(sessions: [(id: String, lastSeenAt: Milliseconds)]) async throws
    /// As ``replace(session:)``, with a record that has been marked as expired. A live family that is at home in the
    /// session ends with it, as by ``FamilyStore/endFamily(id:at:revokedUntil:)``.
    /// - Returns: what ended; nil if it was not replaced.
    func expire(session record: SessionRecord) async throws -> ExpiredSessions?
    /// Marks live sessions as expired whose time is over, and ends the families that are at home in them, as by
    /// ``FamilyStore/endFamily(id:at:revokedUntil:)``. Removes tombstones and other records that are no longer needed.
    /// All in bounded batches.
    /// - Returns: what expired in this batch, and ended with it.
    func expireSessions(now: Milliseconds, limit: Int) async throws -> ExpiredSessions
}
