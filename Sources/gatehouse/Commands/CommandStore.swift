import EdgeConfiguration
import Experience
import SecurityGuard
import StateSurface

/// The store, and what commands need to work on it from outside the gateway.
struct CommandStore {
    /// Open until its owner closes it.
    let surface: any StateSurface
    /// What the configuration says of tokens and passwords.
    let policy: TokenPolicy
    /// For the audit log.
    private let configuration: GatewayConfiguration

    /// The audit log, for commands that change something: open it before the change, which is not made if it can't be
    /// recorded.
    func openAudit() throws(CommandFailure) -> CommandAudit { try CommandAudit(configuration) }

    /// Opens the store, and migrates its tables if they are of an older version.
    ///
    /// - Throws: the store's errors; `GuardError` for settings of tokens that can't be used.
    static func open(_ configuration: GatewayConfiguration) async throws -> CommandStore {
        let surface = try await StateSurfaceFactory.open(url: configuration.state.url, clock: SystemClock.milliseconds)
        // The command stores events for the receivers of `events`; a running gateway of the same store delivers them.
        surface.setEventWriter(EventReceivers(configuration.events).writer(clock: SystemClock.milliseconds))
        return CommandStore(surface: surface, policy: try TokenPolicy(configuration), configuration: configuration)
    }

    /// The accounts in this store, with the settings of the configuration.
    var accounts: Accounts {
        Accounts(state: surface, policy: policy, clock: SystemClock.milliseconds)
    }

    /// The time until which tokens that are valid now must be kept as revoked, in Unix milliseconds.
    var revokedUntil: Int64 { SystemClock.milliseconds() + policy.tokenReach }
}
