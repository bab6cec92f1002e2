import ArgumentParser
import AuthorizationServer
import Encodings
import JOSE
import Runtime
import SecurityGuard
import StateSurface

/// `gatehouse clients`: OAuth clients.
struct ClientsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clients", abstract: "Adds, lists and disables OAuth clients.",
        subcommands: [Add.self, List.self, Disable.self])

    /// `clients add`: prints the id and, for a confidential client, the secret, of which only a hash is stored. Makes
    /// the store if there is none.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Adds a client and prints its id and, if it has one, its secret, which is shown this once.")

        @Argument(help: "The display name.")
        var name: String
        @Option(help: "The tenant it belongs to.")
        var tenant: String?
        @Option(help: "A scope it may ask for; may be repeated.")
        var scope: [String] = []
        @Option(
            name: .customLong("redirect-uri"),
            help: "Where it may receive authorization codes; may be repeated. Makes it public.")
        var redirectURIs: [String] = []
        @Flag(name: .customLong("public"), help: "Without a secret: the default with a redirect URI.")
        var isPublic = false
        @Flag(name: .customLong("confidential"), help: "With a secret: the default without a redirect URI.")
        var isConfidential = false
        @Flag(help: "Answer as one JSON object.")
        var json = false
        @OptionGroup var options: StateOptions

        /// Refuses contradicting flags, redirect URIs of a form that is not allowed, a public client without one, and a
        /// name, a scope or a tenant of a wrong form.
        func validate() throws {
            if isPublic, isConfidential {
                throw ValidationError("--public and --confidential contradict each other: give one of them")
            }
            if let wrong = redirectURIs.first(where: { RedirectURI($0) == nil }) {
                throw ValidationError(
                    "'\(TerminalText.escaped(wrong))' is no redirect URI: use https, http on loopback, or a private-use "
                        + "scheme with a dot such as com.example.app:/callback, without a fragment")
            }
            if isPublic, redirectURIs.isEmpty {
                throw ValidationError("a public client needs --redirect-uri: without it, it could get no token")
            }
            try StateOptions.requireClientName(name)
            try StateOptions.requireScope(scope)
            try StateOptions.requireTenant(tenant)
        }

        func run() async throws {
            try await options.withStore(makes: true) { store in
                let audit = try store.openAudit()
                let clients = Clients(state: store.surface, clock: SystemClock.milliseconds)
                let tenantID = tenant ?? store.policy.defaultTenant
                if isPublic || (!redirectURIs.isEmpty && !isConfidential) {
                    let client = try await clients.addPublic(
                        name: name, tenantID: tenantID, scope: scope, redirectURIs: redirectURIs)
                    try audit.record(added: client)
                    show(client, nil)
                } else {
                    let (client, secret) = try await clients.add(
                        name: name, tenantID: tenantID, scope: scope, redirectURIs: redirectURIs)
                    try audit.record(added: client)
                    show(client, secret)
                }
            }
        }

        /// Prints the id and the secret, which can't be shown again; nil for a public client.
        private func show(_ client: ClientRecord, _ secret: String?) {
            if json {
                var answer: JSONObject = ["client_id": .string(client.clientID)]
                if let secret { answer["client_secret"] = .string(secret) }
                answer["tenant_id"] = .string(client.tenantID)
                return Terminal.answer(TerminalJSON.text(.object(answer)))
            }
            Terminal.answer("client_id: \(client.clientID)")
            guard let secret else { return }
            Terminal.answer("client_secret: \(secret)")
            Terminal.notice("keep the secret now: it can't be shown again")
        }
    }

    /// `clients list`: prints all clients but expired registrations, newest first.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the clients.")

        @OptionGroup var listing: ListingOptions
        @OptionGroup var options: StateOptions

        func run() async throws {
            try await options.withStore { store in
                let clients = try await store.surface.clients(limit: listing.limit)
                var rows = Listing(columns: ["client_id", "name", "tenant_id", "scope", "disabled", "created_at"])
                let now = SystemClock.milliseconds()
                // A registration that was not used in time has expired; the store removes it a little later.
                for client in clients where client.expiresAt.map({ $0 > now }) ?? true {
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

    /// `clients disable`: cannot be undone. Exits with status 1 if there is no such client. The URL of a metadata
    /// document is a client before anyone has authorised it, so it is disabled in advance.
    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Disables a client for good; its tokens, and the sessions opened with them, end at once.")

        @Argument(help: "The client id (cli_…, or the https URL of its metadata).")
        var clientID: String
        @OptionGroup var options: StateOptions

        /// Refuses what can be the id of no client.
        func validate() throws { try StateOptions.requireClientID(clientID) }

        func run() async throws {
            try await options.withStore { store in
                let audit = try store.openAudit()
                var found = try await disable(store)
                if !found, let host = ClientMetadataDocument.host(ofClientID: clientID) {
                    // Two transactions: a grant that is made in between is ended by the second.
                    try await store.surface.keep(
                        documentClient: ClientRecord(
                            clientID: clientID, tenantID: "", name: host, secretHash: [], scope: [],
                            createdAt: SystemClock.milliseconds(), isPublic: true,
                            origin: AuthorizationClient.Origin.document.rawValue))
                    found = try await disable(store)
                }
                guard found else { throw CommandFailure("no such client: see 'gatehouse clients list'") }
                try audit.record("client.disabled", ["client_id": .string(clientID)])
                let name = TerminalText.escaped(clientID)
                Terminal.notice("disabled \(name): it is refused, its tokens and their sessions have ended")
            }
        }

        /// Whether there was such a client.
        private func disable(_ store: CommandStore) async throws -> Bool {
            try await store.surface.disable(
                clientID: clientID, at: SystemClock.milliseconds(), revokedUntil: store.revokedUntil)
        }
    }
}
