/// The roles that one login touches, and a transaction over all of them.
///
/// A use case that writes a family and a session together does it in one ``transaction(_:)``: either all of it happened,
/// durably, or nothing did, whenever the process dies.
package protocol LoginStore: SessionStore, AccountStore, FamilyStore, RevocationStore {
    /// Runs `body` in one transaction. When this returns, what it did is durable and its changes have been told.
    ///
    /// What `body` throws undoes everything. A ``TransactionAbort`` is thrown here as it is; all other errors become
    /// ``StateSurfaceError``s.
    /// - Parameter body: synchronous, so that nothing can suspend in the middle of the transaction. It may run more than
    ///   once (when transactions collide), so it must have no effects but through its argument, and it must be quick:
    ///   an embedded store has one writer.
    /// - Returns: what `body` returned.
    func transaction<Outcome: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome
}
