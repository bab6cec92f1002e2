import Encodings
import StateSurface

/// Ends a session from outside the gateway, by the same rules as the gateway.
struct SessionEnding {
    /// How often ending is tried while other writers change the session.
    private static let attempts = 16

    /// Where the session is; a running gateway of the same store learns of the end by the change feed.
    let store: CommandStore

    /// The session was written between reading and ending it.
    private struct Changed: TransactionAbort {}

    /// Ends a session, and its family if the session is the family's home. The end of a guest does not end the family.
    /// - Returns: whether it was live; nil if there is no such session.
    /// - Throws: ``CommandFailure`` if other writers changed the session in every attempt; the store's errors.
    func end(_ id: String) async throws -> Bool? {
        let (now, revokedUntil) = (SystemClock.milliseconds(), store.revokedUntil)
        for _ in 0..<Self.attempts {
            do {
                return try await store.surface.transaction { transaction in
                    try Self.end(id, at: now, revokedUntil: revokedUntil, transaction)
                }
            } catch is Changed {
                // The transaction was rolled back.
            }
        }
        throw CommandFailure("the session is being changed all the time: try again")
    }

    /// Ends a session inside a transaction.
    /// - Returns: whether it was live; nil if there is no such session.
    /// - Throws: ``Changed`` if another writer was faster.
    private static func end(
        _ id: String, at now: Milliseconds, revokedUntil: Milliseconds, _ transaction: any StoreTransaction
    ) throws -> Bool? {
        guard var session = try transaction.session(id: id) else { return nil }
        transaction.setEndReason(StoreEvent.EndReason.endedByOperator)
        let family = try session.familyID.flatMap { try transaction.family(id: $0) }
        let wasLive = session.state.isLive
        if wasLive {
            session.state = .ended
            session.endedAt = now
            session.previousSecretHash = nil
            session.previousSecretUntil = nil
            guard try transaction.replace(session: session) else { throw Changed() }
        }
        if let family, family.binding?.hasSameBytes(as: session.id) == true {
            _ = try transaction.endFamily(id: family.id, at: now, revokedUntil: revokedUntil)
        }
        return wasLive
    }
}
