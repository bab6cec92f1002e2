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
