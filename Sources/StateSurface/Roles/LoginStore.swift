/// The roles that a login needs, and transactions over all of them.
///
/// A use case that writes a family and a session does so in one ``transaction(_:)``, so that either both are durable or
/// neither, also if the process dies.
package protocol LoginStore: SessionStore, AccountStore, FamilyStore, RevocationStore {
    /// Runs `body` in one transaction. When this returns, its writes are durable and its changes have been reported.
    ///
    /// If `body` throws, the transaction is rolled back. A ``TransactionAbort`` is thrown unchanged; other errors
    /// become ``StateSurfaceError``.
    /// - Parameter body: it is synchronous, so that nothing suspends inside the transaction. It may run more than once
    ///   (if transactions conflict), so it must have no effects except through its argument. It must not block, because
    ///   an embedded store has one writer.
    /// - Returns: what `body` returned.
    func transaction<Outcome: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome
}
