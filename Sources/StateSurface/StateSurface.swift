/// The store: all roles over one database. All persistent state is in it.
///
/// Consumers take only the roles that they use (`any SessionStore & ChangeFeed`). Only the code that opens and closes
/// the store uses this protocol.
package protocol StateSurface: LoginStore, ClientStore, ExecutionStore, ArtifactStore, TicketStore,
    SingleUseStore, GrantStore, PersonalTokenStore, ProtocolSessionStore, PasskeyStore, DeliveryStore, NodeStore,
    KeyRegistry, CounterStore, ChangeFeed, ListingStore
{
    /// The properties of this store.
    var capabilities: StoreCapabilities { get }
    /// Checks that the store answers. Throws ``StateSurfaceError`` if it does not.
    func ping() async throws
    /// Stops the feed and closes the store.
    func close() async
}
