import ArgumentParser
import Encodings
import Runtime
import SecurityGuard
import StateSurface

/// `gatehouse clients`: OAuth clients with a secret.
struct ClientsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clients", abstract: "Adds and lists OAuth clients.", subcommands: [Add.self, List.self])

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
            try await options.withStore { store in
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
}
