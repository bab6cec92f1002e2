import ArgumentParser
import EdgeConfiguration
import SecurityGuard
import StateSurface

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

    /// Refuses a `--tenant` that can be the name of none, as wrong usage.
    static func requireTenant(_ tenant: String?) throws {
        guard let tenant, !NameRule.isTenant(tenant) else { return }
        throw ValidationError("a tenant has 1 to 64 letters, digits, '.', '_' or '-'")
    }

    /// Refuses what can be the id of no user and of no client, as wrong usage.
    static func requireSubject(_ id: String?, as option: String) throws {
        guard let id, !NameRule.isSubject(id) else { return }
        throw ValidationError("\(option): an id is usr_… (see 'gatehouse users list') or cli_…")
    }

    /// Refuses a name that is empty, as that of a script whose variable is not set, as wrong usage.
    static func requireGiven(_ text: String, as name: String) throws {
        guard text.isEmpty else { return }
        throw ValidationError("\(name) is empty: give one")
    }

    /// Refuses a `--scope` that no account or client can have, as wrong usage.
    static func requireScope(_ scope: [String]) throws {
        do throws(AuthError) {
            _ = try Accounts.checked(scope)
        } catch {
            throw ValidationError(error.detail)
        }
    }

    /// Refuses a `--name` or a `--group` that no account can have, as wrong usage.
    static func requireProfile(name: String?, groups: [String]) throws {
        do throws(AuthError) {
            _ = try AccountProfile(name: name, groups: groups).checked()
        } catch {
            throw ValidationError(error.detail)
        }
    }

    /// Refuses what can be the id of no client, as wrong usage.
    static func requireClientID(_ id: String) throws {
        guard !NameRule.isClientID(id) else { return }
        throw ValidationError("a client's id is cli_… or the URL of its metadata: see 'gatehouse clients list'")
    }

    /// Refuses a name that no client can have, as wrong usage.
    static func requireClientName(_ name: String) throws {
        do throws(AuthError) {
            _ = try Clients.checked(name: name)
        } catch {
            throw ValidationError(error.detail)
        }
    }

    /// Opens the store, runs `body`, and closes the store, also if `body` throws.
    ///
    /// - Parameter makes: whether a store that does not exist is created. A command that only reads or changes does not
    ///   create it, because its name is probably mistyped.
    func withStore<R>(makes: Bool = false, _ body: (CommandStore) async throws -> R) async throws -> R {
        let configuration = try load()
        if !makes, let path = try StateSurfaceFactory.missingFile(url: configuration.state.url) {
            throw CommandFailure(
                "there is no store at \(path): correct state.url (--state); 'gatehouse users add' makes a new one")
        }
        return try await withStore(of: configuration, body)
    }

    /// The same for commands that work without a store: nil if there is none.
    func withStoreIfThere<R>(_ body: (CommandStore) async throws -> R?) async throws -> R? {
        let configuration = try load()
        guard try StateSurfaceFactory.missingFile(url: configuration.state.url) == nil else { return nil }
        return try await withStore(of: configuration, body)
    }

    /// Opens the store of this configuration, runs `body`, and closes the store.
    private func withStore<R>(
        of configuration: GatewayConfiguration, _ body: (CommandStore) async throws -> R
    ) async throws -> R {
        let store = try await CommandStore.open(configuration)
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
