import Runtime
import SecurityGuard

/// What the gate of one event loop uses to judge requests without asking the store. Confined to its loop.
package final class GateMemory {
    /// Access tokens that were verified earlier.
    package let tokens: VerifiedTokenCache
    /// Sessions: those in memory, and the way to ask the store for the others.
    package let runtime: Runtime
    /// Reads the token facts that a ticket was issued with.
    package let securityGuard: SecurityGuard
    /// The profiles of recent callers' accounts.
    package let profiles: ProfileMemory
    /// Verified tokens of other issuers; nil where none are accepted.
    package let foreignTokens: ForeignTokenMemory?
    /// The origins that may open sockets and use cookies.
    package let origins: OriginPolicy
    /// Milliseconds since the Unix epoch.
    package let now: @Sendable () -> Int64
    /// Asks the store who a personal access token speaks for. Called off the event loop.
    package let judgePersonalToken: @Sendable ([UInt8]) async throws -> Result<Principal, TokenFault>
    /// How far the store can be trusted, as of the last check of its feed.
    package var storeHealth = StoreHealth.current

    /// Creates the memory of one event loop from its parts.
    package init(
        tokens: VerifiedTokenCache, runtime: Runtime, securityGuard: SecurityGuard, origins: OriginPolicy,
        now: @escaping @Sendable () -> Int64,
        judgePersonalToken: @escaping @Sendable ([UInt8]) async throws -> Result<Principal, TokenFault> = { _ in
            .failure(TokenFault(.invalidToken, reason: "personal_tokens_unknown"))
        }
    ) {
        self.judgePersonalToken = judgePersonalToken
        self.tokens = tokens
        self.runtime = runtime
        self.securityGuard = securityGuard
        self.profiles = ProfileMemory(securityGuard.profiles)
        self.foreignTokens = ForeignTokenMemory(securityGuard)
        self.origins = origins
        self.now = now
    }
}
