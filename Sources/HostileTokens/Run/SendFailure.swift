/// Why there is no answer.
public struct SendFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: String, Sendable {
        /// No connection could be made.
        case unreachable
        /// The connection ended before an answer.
        case closed
        /// There was no answer in time.
        case timedOut = "timed_out"
        /// What was received is not an HTTP response.
        case unreadable
        /// The stream was reset, which is how HTTP/2 refuses a malformed request (RFC 9113 section 8.1.1).
        case refused
    }

    /// The kind of failure.
    public let code: Code
    /// The failure in words.
    public let description: String

    /// A failure.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Equality of the codes; descriptions are not compared.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}
