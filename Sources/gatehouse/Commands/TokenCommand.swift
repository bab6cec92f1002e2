import ArgumentParser
import JOSE

/// `gatehouse token`: issues, inspects and verifies tokens without a running gateway.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Issues, inspects and verifies tokens.",
        subcommands: [TokenIssueCommand.self, TokenInspectCommand.self, TokenVerifyCommand.self])
}
