/// Why a target cannot be judged.
public struct RunError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of fault.
    public enum Code: String, Sendable {
        /// The target accepts a request without a token.
        case unprotected
        /// The target refuses the valid token.
        case goodTokenRefused = "good_token_refused"
        /// The target does not answer.
        case unreachable
    }

    /// The kind of fault.
    public let code: Code
    /// One sentence.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Equality of the codes.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}
