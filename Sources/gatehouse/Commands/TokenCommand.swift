import ArgumentParser
import JOSE

/// `gatehouse token`: makes, shows and judges tokens, without a gateway.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Issues, inspects and verifies tokens.",
        subcommands: [TokenIssueCommand.self, TokenInspectCommand.self, TokenVerifyCommand.self])
}

/// The token a command is about: an argument, or standard input.
struct TokenInput: ParsableArguments {
    /// A longer one is no token, and its rest is not read.
    static let limit = 64 * 1_024

    @Argument(help: "The token; standard input without it.")
    var token: String?

    /// The token's bytes, without the white space around what was piped in.
    func read() throws -> [UInt8] {
        if let token { return Array(token.utf8) }
        guard !Terminal.isInteractive else {
            throw CommandFailure("no token: give it as an argument or pipe it in", status: .misused)
        }
        guard let bytes = try Terminal.input(limit: Self.limit) else { throw Self.tooLarge }
        let isSpace: (UInt8) -> Bool = { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let end = bytes.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? 0
        return Array(bytes[..<end].drop(while: isSpace))
    }

    /// Reads it strictly; what can't be read is refused like any other.
    func parse() throws -> UnverifiedToken {
        let limits = TokenLimits(maxBytes: Self.limit, json: JSONLimits(maxBytes: Self.limit))
        return try UnverifiedToken(try read(), limits: limits)
    }

    private static let tooLarge = TokenRefusal(.tooLarge, "more than \(Quantity.size(limit)) on standard input")
}
