import StateSurface

/// The store of protocol sessions, as the edge uses it. It may be used from any thread.
package struct ProtocolSessionAccess: Sendable {
    let store: any ProtocolSessionStore
    let clock: @Sendable () -> Int64

    /// - Parameter clock: milliseconds since the Unix epoch.
    package init(store: any ProtocolSessionStore, clock: @escaping @Sendable () -> Int64) {
        self.store = store
        self.clock = clock
    }
}
