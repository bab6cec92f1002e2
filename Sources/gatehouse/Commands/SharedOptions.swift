import ArgumentParser
import EdgeConfiguration
import Experience
import SecurityGuard
import StateSurface

/// `--config`, which every command that needs the configuration takes.
struct ConfigurationOptions: ParsableArguments {
    @Option(name: .customLong("config"), help: .init("The configuration file.", valueName: "file"))
    var file: String?

    /// Reads the configuration as the gateway does, and prints warnings.
    func load(flags: [ConfigurationFlag] = [], warn: Bool = true) throws(ConfigurationFaults) -> LoadedConfiguration {
        let loaded = try ConfigurationLoader.ofProcess().load(file: file, flags: flags)
        if warn {
            for warning in loaded.warnings { Terminal.notice("warning: \(warning)") }
        }
        return loaded
    }
}

/// `--state` and `--config`, which every command that uses the store takes.
struct StateOptions: ParsableArguments {
    @OptionGroup var configuration: ConfigurationOptions

    @Option(help: .init("The store: sqlite:PATH or postgres://…", valueName: "url"))
    var state: String?

    /// The configuration from file, environment and `--state`.
    func load() throws(ConfigurationFaults) -> GatewayConfiguration {
        let flags = state.map { [ConfigurationFlag(name: "--state", key: "state.url", value: $0)] } ?? []
        return try configuration.load(flags: flags, warn: false).configuration
    }

    /// Opens the store, runs `body`, and closes the store, also if `body` throws.
    ///
    /// - Parameter makes: whether a store that does not exist is created. A command that only reads or changes does not
    ///   create it, because its name is probably mistyped.
    func withStore<R>(makes: Bool = false, _ body: (Store) async throws -> R) async throws -> R {
        let configuration = try load()
        if !makes, let path = try StateSurfaceFactory.missingFile(url: configuration.state.url) {
            throw CommandFailure(
                "there is no store at \(path): correct state.url (--state); 'gatehouse users add' makes a new one")
        }
        return try await withStore(of: configuration, body)
    }

    /// The same for commands that work without a store: nil if there is none.
    func withStoreIfThere<R>(_ body: (Store) async throws -> R?) async throws -> R? {
        let configuration = try load()
        guard try StateSurfaceFactory.missingFile(url: configuration.state.url) == nil else { return nil }
        return try await withStore(of: configuration, body)
    }

    /// Opens the store of this configuration, runs `body`, and closes the store.
    private func withStore<R>(
        of configuration: GatewayConfiguration, _ body: (Store) async throws -> R
    ) async throws -> R {
        let store = try await Store.open(configuration)
        do {
            let result = try await body(store)
            await store.surface.close()
            return result
        } catch {
            await store.surface.close()
            throw error
        }
    }
}

/// `--json` and `--limit` of listings.
struct ListingOptions: ParsableArguments {
    @Flag(help: "Answer as one JSON array.")
    var json = false

    @Option(help: "How many at most, newest first.")
    var limit = 1_000

    /// Refuses a limit out of range as wrong usage.
    func validate() throws {
        guard (1...100_000).contains(limit) else { throw ValidationError("--limit must lie between 1 and 100000") }
    }

    /// Prints the rows, and a note if there may be more than `--limit`.
    func show(_ listing: Listing, fetched: Int) {
        listing.show(asJSON: json)
        if fetched == limit { Terminal.notice("there may be more: raise --limit (now \(limit))") }
    }
}

/// The store, and what commands need to work on it from outside the gateway.
struct Store {
    let surface: any StateSurface
    let policy: TokenPolicy
    private let configuration: GatewayConfiguration

    /// The audit log, for commands that change something: open it before the change, which is not made if it can't be
    /// recorded.
    func openAudit() throws(CommandFailure) -> CommandAudit { try CommandAudit(configuration) }

    /// Opens the store, and migrates its tables if they are of an older version.
    ///
    /// - Throws: the store's errors; `GuardError` for settings of tokens that can't be used.
    static func open(_ configuration: GatewayConfiguration) async throws -> Store {
        let surface = try await StateSurfaceFactory.open(url: configuration.state.url, clock: SystemClock.milliseconds)
        // The command stores events for the receivers of `events`; a running gateway of the same store delivers them.
        surface.tell(with: EventReceivers(configuration.events).writer(clock: SystemClock.milliseconds))
        return Store(surface: surface, policy: try TokenPolicy(configuration), configuration: configuration)
    }

    /// The accounts in this store, with the settings of the configuration.
    var accounts: Accounts {
        Accounts(state: surface, policy: policy, clock: SystemClock.milliseconds)
    }

    /// The time until which tokens that are valid now must be kept as revoked, in Unix milliseconds.
    var revokedUntil: Int64 { SystemClock.milliseconds() + policy.tokenReach }
}
