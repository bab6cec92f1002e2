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
