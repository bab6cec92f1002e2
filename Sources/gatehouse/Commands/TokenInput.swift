import ArgumentParser
import JOSE

/// The token that a command works on, from an argument or from standard input.
struct TokenInput: ParsableArguments {
    /// The longest input that is read, in bytes.
    static let limit = 64 * 1_024

    @Argument(help: "The token; standard input without it.")
    var token: String?

    /// The token. White space around it is removed if it comes from standard input.
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

    /// Parses the token strictly. A malformed token is refused like any other invalid one.
    func parse() throws -> UnverifiedToken {
        let limits = TokenLimits(maxBytes: Self.limit, json: JSONLimits(maxBytes: Self.limit))
        return try UnverifiedToken(try read(), limits: limits)
    }

    private static let tooLarge = TokenRefusal(.tooLarge, "more than \(Quantity.size(limit)) on standard input")
}
