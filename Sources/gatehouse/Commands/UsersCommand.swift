import ArgumentParser
import Encodings
import JOSE
import Runtime
import SecurityGuard
import StateSurface

/// `gatehouse users`: accounts. A command that names an account exits with status 1 if there is none, or if several
/// tenants have the e-mail and none is named.
struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users", abstract: "Adds, changes, lists, disables and enables accounts.",
        subcommands: [
            Add.self, Set.self, List.self, Disable.self, Enable.self, Password.self, UserPasskeysCommand.self,
        ])

    /// `users add`: prints the id of the new account. Its e-mail counts as verified. Makes the store if there is none.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Adds an account; asks for its password.")

        @Argument(help: "The e-mail it logs in with.")
        var email: String
        @Option(help: "The tenant it belongs to.")
        var tenant: String?
        @Option(help: "A scope of its tokens; may be repeated. Default: accounts.default_scope.")
        var scope: [String] = []
        @Option(help: "The display name.")
        var name: String?
        @Option(help: "A group of the user; may be repeated.")
        var group: [String] = []
        @Flag(help: "Read the password from standard input; one final newline is dropped.")
        var passwordStdin = false
        @OptionGroup var options: StateOptions

        /// Refuses an e-mail, a tenant, a scope, a name or a group of a wrong form before there is a password or a
        /// store.
        func validate() throws {
            guard NameRule.isEmail(Accounts.emailKey(email)) else {
                throw ValidationError("an e-mail is local@domain in at most 254 bytes, without spaces")
            }
            try StateOptions.requireTenant(tenant)
            try StateOptions.requireScope(scope)
            try StateOptions.requireProfile(name: name, groups: group)
        }

        func run() async throws {
            // A configuration that can't be used is reported before a password is asked for.
            _ = try options.load()
            let password = try PasswordPrompt.password(fromInput: passwordStdin)
            try await options.withStore(makes: true) { store in
                let audit = try store.openAudit()
                let account = try await store.accounts.add(
                    email: email, password: password, tenantID: tenant, scope: scope.isEmpty ? nil : scope,
                    profile: AccountProfile(name: name, groups: group))
                try audit.record("account.added", account)
                Terminal.answer(account.userID, isElsewhere: true)
                Terminal.notice("added \(TerminalText.escaped(account.email)) to tenant \(account.tenantID)")
            }
        }
    }

    /// `users set`: changes the name and the groups. What is not given stays.
    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replaces the name, the groups or both; running gateways apply it within a second.")

        @OptionGroup var user: AccountName
        @Option(help: "The display name; empty for none.")
        var name: String?
        @Option(help: "A group of the user; may be repeated. Those that are given replace all.")
        var group: [String] = []
        @Flag(help: "Remove all groups.")
        var noGroups = false
        @OptionGroup var options: StateOptions

        /// Refuses a call that changes nothing, `--group` beside `--no-groups`, and a name or a group of a wrong form,
        /// as wrong usage.
        func validate() throws {
            guard group.isEmpty || !noGroups else {
                throw ValidationError("--group and --no-groups exclude each other")
            }
            guard name != nil || !group.isEmpty || noGroups else {
                throw ValidationError("nothing to set: give --name, --group or --no-groups")
            }
            try StateOptions.requireProfile(name: name, groups: group)
        }

        func run() async throws {
            try await options.withStore { store in
                let audit = try store.openAudit()
                let account = try await user.account(in: store)
                let groups = noGroups ? [] : group.isEmpty ? nil : group
                try await store.accounts.describe(userID: account.userID, name: name, groups: groups)
                try audit.record("account.described", account)
                Terminal.notice("changed \(account.userID)")
            }
        }
    }

    /// `users list`: prints accounts, of one tenant or all, newest first.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the accounts.")

        @Option(help: "Only this tenant.")
        var tenant: String?
        @OptionGroup var listing: ListingOptions
        @OptionGroup var options: StateOptions

        /// Refuses a tenant of a wrong form, which would be an empty list.
        func validate() throws { try StateOptions.requireTenant(tenant) }

        func run() async throws {
            try await options.withStore { store in
                let accounts = try await store.surface.accounts(tenantID: tenant, limit: listing.limit)
                var rows = Listing(columns: [
                    "user_id", "email", "tenant_id", "scope", "disabled", "email_verified", "created_at",
                    "name", "groups",
                ])
                for account in accounts {
                    rows.rows.append([
                        "user_id": .string(account.userID), "email": .string(account.email),
                        "tenant_id": .string(account.tenantID), "scope": .array(account.scope.map { .string($0) }),
                        "disabled": .bool(account.disabled), "email_verified": .bool(account.emailVerified),
                        "created_at": .string(Timestamp.text(account.createdAt)),
                        "name": account.name.map { .string($0) } ?? .null,
                        "groups": .array(account.groups.map { .string($0) }),
                    ])
                }
                listing.show(rows, fetched: accounts.count)
            }
        }
    }

    /// `users disable`: ends the account's families, sessions, tokens and sockets in the same transaction.
    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Disables an account; its sessions, tokens and sockets end at once.")

        @OptionGroup var name: AccountName
        @OptionGroup var options: StateOptions

        func run() async throws {
            try await options.withStore { store in
                let audit = try store.openAudit()
                let account = try await name.account(in: store)
                guard try await store.accounts.disable(userID: account.userID) else { throw AuthError(.notFound) }
                try audit.record("account.disabled", account)
                Terminal.notice("disabled \(account.userID): its sessions and tokens have ended")
            }
        }
    }

    /// `users enable`: lets a disabled account sign in again, and is no error for one that is not disabled.
    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lets a disabled account log in again; what ended with it stays ended.")

        @OptionGroup var name: AccountName
        @OptionGroup var options: StateOptions

        func run() async throws {
            try await options.withStore { store in
                let audit = try store.openAudit()
                let account = try await name.account(in: store)
                let wasDisabled = try await store.accounts.enable(userID: account.userID)
                if wasDisabled { try audit.record("account.enabled", account) }
                Terminal.notice(wasDisabled ? "enabled \(account.userID)" : "\(account.userID) was not disabled")
            }
        }
    }

    /// `users password`: sets a password without asking for the old one, and ends every session of the account.
    struct Password: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sets a new password; every session of the account ends.")

        @OptionGroup var name: AccountName
        @Flag(help: "Read the password from standard input; one final newline is dropped.")
        var passwordStdin = false
        @OptionGroup var options: StateOptions

        func run() async throws {
            // A configuration that can't be used is reported before a password is asked for.
            _ = try options.load()
            let password = try PasswordPrompt.password(fromInput: passwordStdin)
            try await options.withStore { store in
                let audit = try store.openAudit()
                let account = try await name.account(in: store)
                let ended = try await store.accounts.setPassword(userID: account.userID, new: password)
                try audit.record("account.password_changed", account)
                Terminal.notice("changed the password of \(account.userID); sessions ended: \(ended.count)")
            }
        }
    }
}

/// The arguments that name an account.
struct AccountName: ParsableArguments {
    @Argument(help: "The user id (usr_…) or the e-mail.")
    var user: String
    @Option(parsing: .unconditional, help: "The tenant, where several have this e-mail.")
    var tenant: String?

    /// Refuses what is neither a user id nor an e-mail, and a tenant of a wrong form, as wrong usage.
    func validate() throws {
        guard NameRule.hasShape(user, prefix: Prefix.user) || user.utf8.contains(UInt8(ascii: "@")) else {
            throw ValidationError("name the account by its user id (usr_…) or its e-mail")
        }
        try StateOptions.requireTenant(tenant)
    }

    /// The account with that user id or e-mail. Throws if there is none, or more than one.
    func account(in store: CommandStore) async throws -> AccountRecord {
        let found = try await store.accounts.find(user, tenantID: tenant)
        guard let account = found.first else { throw AuthError(.notFound) }
        guard found.count == 1 else {
            throw CommandFailure("several tenants have this e-mail: add --tenant, or give the user id")
        }
        return account
    }
}

extension CommandAudit {
    /// Records what was done to an account.
    func record(_ event: String, _ account: AccountRecord) throws(CommandFailure) {
        try record(event, ["user_id": .string(account.userID), "tenant_id": .string(account.tenantID)])
    }
}
