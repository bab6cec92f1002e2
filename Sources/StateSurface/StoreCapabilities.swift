/// The properties of a store that other code depends on, declared by the store itself.
package struct StoreCapabilities: Sendable, Equatable {
    /// What operators call the store: `sqlite` or `postgres`.
    package var name: String
    /// Whether gateways on several machines may use the store. They must then sign with the same keys.
    package var isSharedBetweenMachines: Bool
    /// Whether writers run concurrently and lock the rows they use. Otherwise there is one writer at a time.
    package var hasRowLocks: Bool

    /// A store with these properties.
    package init(name: String, isSharedBetweenMachines: Bool, hasRowLocks: Bool) {
        self.name = name
        self.isSharedBetweenMachines = isSharedBetweenMachines
        self.hasRowLocks = hasRowLocks
    }
}
