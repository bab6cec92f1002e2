/// The one place where state lives: every role of the store, over one database.
///
/// A consumer asks for the roles that it uses (`any SessionStore & ChangeFeed`); only who opens or closes the store
/// holds the whole of it.
package protocol StateSurface: LoginStore, ClientStore, ExecutionStore, ArtifactStore, TicketStore, NodeStore,
    KeyRegistry, CounterStore, ChangeFeed
{
    /// What this store can do.
    var capabilities: StoreCapabilities { get }
    /// Asks the store for a sign of life. Throws when it has none.
    func ping() async throws
    /// Stops the feed and closes the store.
    func close() async
}

/// What a store can do, as the store itself says it.
package struct StoreCapabilities: Sendable, Equatable {
    /// Whether gateways on other machines may use the same store. They must then sign with the same keys.
    package var isSharedBetweenMachines: Bool
    /// Whether writers run side by side, each locking the rows it touches; else there is one writer at a time.
    package var hasRowLocks: Bool

    package init(isSharedBetweenMachines: Bool, hasRowLocks: Bool) {
        self.isSharedBetweenMachines = isSharedBetweenMachines
        self.hasRowLocks = hasRowLocks
    }
}
