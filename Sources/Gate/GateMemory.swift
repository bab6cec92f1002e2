import NIOCore
import Runtime
import SecurityGuard

/// What the gate of one event loop judges by without asking the store. Confined to its loop.
package final class GateMemory {
    package let loop: any EventLoop
    /// Access tokens that were verified before.
    package let tokens: VerifiedTokenCache
    package let runtime: Runtime
    package let securityGuard: SecurityGuard
    package let origins: OriginPolicy
    /// Milliseconds since the Unix epoch.
    package let now: @Sendable () -> Int64
    /// As of the last look at the store's feed.
    package var storeHealth = StoreHealth.current

    package init(
        loop: any EventLoop, tokens: VerifiedTokenCache, runtime: Runtime, securityGuard: SecurityGuard,
        origins: OriginPolicy, now: @escaping @Sendable () -> Int64
    ) {
        self.loop = loop
        self.tokens = tokens
        self.runtime = runtime
        self.securityGuard = securityGuard
        self.origins = origins
        self.now = now
    }
}
