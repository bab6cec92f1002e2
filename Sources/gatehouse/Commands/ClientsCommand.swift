import ArgumentParser
import Encodings
import JOSE
import Runtime
import SecurityGuard
import StateSurface

/// `gatehouse clients`: OAuth clients with a secret.
struct ClientsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clients", abstract: "Adds, lists and disables OAuth clients.",
        subcommands: [Add.self, List.self, Disable.self])

    /// `clients add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Adds a client and prints its id and its secret, which is shown this once.")

        @Argument(help: "What people call it.")
        var name: String
        @Option(help: "The tenant it belongs to.")
        var tenant: String?
        @Option(help: "A scope it may ask for; may be repeated.")
        var scope: [String] = []
        @Flag(help: "Answer as one JSON object.")
        var json = false
        @OptionGroup var options: StateOptions

        func run() async throws {
            try await options.withStore(makes: true) { store in
                let clients = Clients(state: store.surface, clock: SystemClock.milliseconds)
                let (client, secret) = try await clients.add(
                    name: name, tenantID: tenant ?? store.policy.defaultTenant, scope: scope)
                if json {
                    let answer: JSONObject = [
                        "client_id": .string(client.clientID), "client_secret": .string(secret),
                        "tenant_id": .string(client.tenantID),
                    ]
                    Terminal.answer(TerminalJSON.text(.object(answer)))
                } else {
                    Terminal.answer("client_id: \(client.clientID)")
                    Terminal.answer("client_secret: \(secret)")
                    Terminal.notice("keep the secret now: it can't be shown again")
                }
            }
        }
    }

    /// `clients list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the clients.")

        @OptionGroup var listing: ListingOptions
        @OptionGroup var options: StateOptions

        func run() async throws {
            try await options.withStore { store in
                let clients = try await store.surface.clients(limit: listing.limit)
                var rows = Listing(columns: ["client_id", "name", "tenant_id", "scope", "disabled", "created_at"])
                for client in clients {
                    rows.rows.append([
                        "client_id": .string(client.clientID), "name": .string(client.name),
                        "tenant_id": .string(client.tenantID), "scope": .array(client.scope.map { .string($0) }),
                        "disabled": .bool(client.disabled), "created_at": .string(Timestamp.text(client.createdAt)),
                    ])
                }
                listing.show(rows, fetched: clients.count)
            }
        }
    }

    /// `clients disable`.
    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Disables a client for good; its tokens, and the sessions opened with them, end at once.")

        @Argument(help: "The client id (cli_…).")
        var clientID: String
        @OptionGroup var options: StateOptions

        func run() async throws {
            try await options.withStore { store in
                let now = SystemClock.milliseconds()
                let found = try await store.surface.disable(
                    clientID: clientID, at: now, revokedUntil: store.revokedUntil)
                guard found else { throw CommandFailure("no such client: see 'gatehouse clients list'") }
                let name = TerminalText.escaped(clientID)
                Terminal.notice("disabled \(name): its secret is refused, its tokens and their sessions have ended")
            }
        }
    }
}
