import Gate
import Proxy

/// Everything that a reload of the configuration replaces, as one event loop uses it.
///
/// A request keeps the snapshot in which it began. Confined to its loop.
package final class EdgeSnapshot {
    /// What every connection shares.
    package let services: EdgeServices
    /// What the gate uses to judge requests without asking the store.
    package let gate: GateMemory
    /// The connections to upstreams.
    package let upstreams: UpstreamPools
    /// Makes the identity fields for upstreams.
    let identityMaker: IdentityMaker

    /// - Parameter upstreams: confined to the same loop.
    package init(services: EdgeServices, gate: GateMemory, upstreams: UpstreamPools) {
        self.services = services
        self.gate = gate
        self.upstreams = upstreams
        self.identityMaker = IdentityMaker(
            assertions: AssertionCache(), identities: IdentityCache(), securityGuard: gate.securityGuard)
    }
}
