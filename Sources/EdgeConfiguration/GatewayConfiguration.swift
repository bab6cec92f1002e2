import SecurityGuard

/// Everything an operator may decide, as plain values.
///
/// Times are milliseconds, sizes are bytes. A fresh value holds the defaults; whoever reads a file, an environment or flags changes what was said there.
/// Nothing here has been looked up or opened: paths, addresses and URLs are as they were written.
public struct GatewayConfiguration: Sendable, Equatable {
    package var server = Server()
    package var state = State()
    package var keys = Keys()
    package var tokens = Tokens()
    package var sessions = Sessions()
    package var webSocket = WebSocket()
    package var limits = Limits()
    package var runtime = RuntimeConfiguration()
    package var accounts = Accounts()
    package var errors = Errors()
    package var log = Log()
    package var audit = Audit()
    package var routes: [RouteConfiguration] = []
    package var issuers: [IssuerConfiguration] = []

    /// The defaults.
    public init() {}
}

extension GatewayConfiguration {
    /// `state.*`: where sessions, accounts and refresh families live.
    package struct State: Sendable, Equatable {
        /// `state.url`: `sqlite:PATH` or `postgres://…`, which may hold a password.
        package var url = "sqlite:var/gatehouse.sqlite"
        /// `state.grace`: how long verified traffic goes on without the store, counted from its last beat.
        package var grace: Int64 = 30_000

        package init() {}
    }

    /// `keys.*`: where the signing keys lie.
    package struct Keys: Sendable, Equatable {
        /// `keys.directory`.
        package var directory = "keys"
        /// `keys.passphrase_file`: holds what the key files are encrypted with.
        package var passphraseFile: String?
        /// The passphrase itself, where it was given without a file.
        package var passphrase: KeyPassphrase?

        package init() {}

        /// The passphrase of the key files, from where it was given; nil where none was.
        package func readPassphrase() throws(GuardError) -> KeyPassphrase? {
            if let passphrase { return passphrase }
            guard let passphraseFile else { return nil }
            do throws(GuardError) {
                return try KeyPassphrase(file: passphraseFile)
            } catch {
                throw GuardError(error.code, "keys.passphrase_file: \(error.message)")
            }
        }
    }

    /// `accounts.*`: who may have an account.
    package struct Accounts: Sendable, Equatable {
        /// `accounts.registration`: whether anyone may register.
        package var registration = false
        /// `accounts.registration_tenants`: where they may register by name; empty gives each a tenant of its own.
        package var registrationTenants: [String] = []
        /// `accounts.default_tenant`: whose account counts where several tenants have an e-mail; nil prefers none.
        package var defaultTenant: String?
        /// `accounts.passwords`: whether passwords let anybody in.
        package var passwords = true
        /// `accounts.default_scope`: the scope of accounts that were given none of their own.
        package var defaultScope: [String] = []

        package init() {}
    }

    /// `errors.*`: how much a refusal tells.
    package struct Errors: Sendable, Equatable {
        /// `errors.explain`: adds the `reason` member to refusals, for development only.
        package var explain = false

        package init() {}
    }

    /// `log.*`: what is written to standard error.
    package struct Log: Sendable, Equatable {
        /// The two shapes of a line.
        package enum Format: String, Sendable, CaseIterable {
            case text
            case json
        }

        /// From which severity on a line is written.
        package enum Level: String, Sendable, CaseIterable {
            case trace
            case debug
            case info
            case notice
            case warning
            case error
            case critical
        }

        /// `log.format`.
        package var format = Format.text
        /// `log.level`.
        package var level = Level.info

        package init() {}
    }

    /// `audit.*`: the hash-chained record of what was decided.
    package struct Audit: Sendable, Equatable {
        /// `audit.file`: where it is appended; nil keeps none.
        package var file: String?

        package init() {}
    }
}
