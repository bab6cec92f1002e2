import Answers
import EdgeConfiguration
import IdentityProviders
import Logging
import Runtime
import SecurityGuard
import SignIn

/// The modules behind the API, and what the edge around it offers. One object for each configuration.
/// All of it may be used from any thread.
package final class APIServices: Sendable {
    /// Verifies and issues tokens.
    package let securityGuard: SecurityGuard
    /// Keeps sessions.
    package let runtime: Runtime
    /// Signs users in and out.
    package let signIn: SignInService
    /// Authorises agents.
    package let agents: AgentAccess
    /// The identity providers.
    package let providers: ProviderDirectory
    /// What is remembered of sign-ins through them.
    package let providerMemory: ProviderMemory
    /// Registers passkeys and signs in with them; nil where the issuer's name is none that WebAuthn takes.
    package let passkeys: PasskeyService?
    /// The configuration of the gateway.
    package let configuration: GatewayConfiguration
    /// `tokens.issuer`, or the address that was bound where none is configured. It is the `iss` of tokens, and the
    /// public documents are made with it.
    package let issuer: String
    /// Milliseconds since the Unix epoch. Called whenever a time is needed, so that tests can set it.
    package let clock: @Sendable () -> Int64
    /// The operator's log.
    package let logger: Logger
    /// Whether the store's feed is alive: without it no login, upgrade or refresh is done. False as soon as the feed is
    /// silent; `state.grace` is not waited for.
    package let storeIsAlive: @Sendable () -> Bool
    /// Returns when every socket and stream that a change on this node has ended is closed. Awaited before the answer
    /// is sent, so that nothing from before a login outlives it.
    package let leasesSettled: @Sendable () async -> Void
    /// Writes a refusal, with its reason, to the audit log. Called once for each refusal, before its answer is sent, by
    /// ``note(_:of:)``.
    package let refused: @Sendable (_ problem: Problem, _ request: APIRequestFacts) -> Void

    /// - Parameter providers: none by default: then signing in through a provider is not possible.
    /// - Parameter passkeys: nil takes the endpoints of passkeys away.
    package init(
        securityGuard: SecurityGuard, runtime: Runtime, signIn: SignInService,
        agents: AgentAccess, providers: ProviderDirectory = ProviderDirectory(), providerMemory: ProviderMemory,
        passkeys: PasskeyService? = nil, configuration: GatewayConfiguration, issuer: String,
        clock: @escaping @Sendable () -> Int64, logger: Logger,
        storeIsAlive: @escaping @Sendable () -> Bool, leasesSettled: @escaping @Sendable () async -> Void,
        refused: @escaping @Sendable (_ problem: Problem, _ request: APIRequestFacts) -> Void
    ) {
        self.securityGuard = securityGuard
        self.runtime = runtime
        self.signIn = signIn
        self.agents = agents
        self.providers = providers
        self.providerMemory = providerMemory
        self.passkeys = passkeys
        self.configuration = configuration
        self.issuer = issuer
        self.clock = clock
        self.logger = logger
        self.storeIsAlive = storeIsAlive
        self.leasesSettled = leasesSettled
        self.refused = refused
    }

    /// Whether tokens of others sign in (`subject_token`). Where they do not, and there are no passwords either, `POST
    /// /api/auth/login` does not exist.
    var acceptsTokens: Bool { providers.acceptsTokens || securityGuard.hasTrustedIssuers }

    /// Refuses a request that must not be answered from memory alone while the store can't be reached.
    ///
    /// - Throws: `store_unavailable`.
    func requireStore() throws(Problem) {
        guard storeIsAlive() else { throw Problem(.storeUnavailable, reason: "feed_silent") }
    }
}
