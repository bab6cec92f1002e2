import Foundation
import PostgresForTests

/// Two gateways on one PostgreSQL, with the same keys and accounts.
struct TwoNodes<Node: GatewayUnderTest>: Sendable {
    let postgres: PrivatePostgres
    let database: String
    let a: Node
    let b: Node

    var url: String { postgres.url(database: database) }
    private var environment: [String: String] { ["GATEHOUSE_STATE_URL": url] }

    /// - Parameters:
    ///   - tokens: lines under `tokens:`, without `issuer`.
    ///   - tokensOfB: the same for the second node, where it differs.
    init(
        on postgres: PrivatePostgres? = nil, users: [TestUser] = [.ada, .bob], tokens: String = "",
        tokensOfB: String? = nil, more: String = ""
    ) async throws {
        self.postgres = try postgres ?? PrivatePostgres.shared.get()
        database = try self.postgres.createDatabase()
        // Tokens of one node are good at the other: they have one issuer.
        func configuration(_ tokens: String) -> String {
            "tokens:\n  issuer: http://gatehouse.test\n\(tokens)\n\(more)\n"
        }
        let url = self.postgres.url(database: database)
        let place = try GatewayProcess.makeDirectory()
        try await TestAccounts.add(users, url: url)
        let environment = ["GATEHOUSE_STATE_URL": url]
        a = try await Node.start(
            configuration(tokens), users: [], environment: environment, directory: place, listen: "127.0.0.1:0")
        let other = try GatewayProcess.makeDirectory()
        try FileManager.default.copyItem(
            at: place.appendingPathComponent("keys"), to: other.appendingPathComponent("keys"))
        b = try await Node.start(
            configuration(tokensOfB ?? tokens), users: [], environment: environment, directory: other,
            listen: "127.0.0.1:0")
    }

    /// A command of the CLI on the shared store.
    func command(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) throws -> (status: Int32, output: String, errors: String) {
        try GatewayProcess.run(
            arguments + ["--state", url], in: a.directory, input: input, stateful: false, environment: environment)
    }

    func stop() {
        a.stop()
        b.stop()
    }
}
