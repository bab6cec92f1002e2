import ArgumentParser
import Encodings
import Runtime
import StateSurface

/// `gatehouse users passkeys`: the passkeys of an account.
struct UserPasskeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passkeys", abstract: "Lists and removes the passkeys of an account.",
        subcommands: [List.self, Remove.self])

    /// `users passkeys list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the passkeys of an account, oldest first.")

        @OptionGroup var name: AccountName
        @Flag(help: "Answer as one JSON array.")
        var json = false
        @OptionGroup var options: StateOptions

        func run() async throws {
            try await options.withStore { store in
                let account = try await name.account(in: store)
                var rows = Listing(columns: ["id", "name", "created_at", "last_used_at", "backed_up"])
                for passkey in try await store.surface.passkeys(userID: account.userID) {
                    rows.rows.append([
                        "id": .string(Base64URL.encode(passkey.credentialID)), "name": .string(passkey.name),
                        "created_at": .string(Timestamp.text(passkey.createdAt)),
                        "last_used_at": passkey.lastUsedAt.map { .string(Timestamp.text($0)) } ?? .null,
                        "backed_up": .bool(passkey.isBackedUp),
                    ])
                }
                rows.show(asJSON: json)
            }
        }
    }

    /// `users passkeys remove`: exits with status 1 if the account has no passkey with this id.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Removes a passkey, so that it can no longer be used to sign in. Sessions that are open stay open.")

        @OptionGroup var name: AccountName
        @Argument(help: "The id of the passkey, as 'users passkeys list' shows it.")
        var id: String
        @OptionGroup var options: StateOptions

        /// Refuses an empty id as wrong usage.
        func validate() throws { try StateOptions.requireGiven(id, as: "the id of the passkey") }

        func run() async throws {
            try await options.withStore { store in
                let audit = try store.openAudit()
                let account = try await name.account(in: store)
                guard let credentialID = Base64URL.decode(id),
                    try await store.surface.removePasskey(credentialID: credentialID, userID: account.userID)
                else {
                    throw CommandFailure(
                        "the account has no passkey with this id: see 'gatehouse users passkeys list'")
                }
                try audit.record("passkey.removed", account)
                Terminal.notice("removed a passkey of \(account.userID)")
            }
        }
    }
}
