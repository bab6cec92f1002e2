/// Why an operation of the store failed.
package struct StateSurfaceError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    package enum Code: String, Sendable {
        /// The store can't be reached or is busy. The operation may be retried.
        case unavailable
        /// A record with this key exists already.
        case duplicate
        /// The store is damaged.
        case corrupt
        /// The store has no space left.
        case full
        /// The settings are wrong, or the store refuses this gateway.
        case misconfigured
        /// The store refused a statement.
        case failed
        /// The account, client or family that a record was to be created for has changed since it was checked.
        case ownerGone
    }
    /// The kind of failure.
    package let code: Code
    /// The message for the operator's log. It contains no data of a row.
    package let message: String

    /// An error of a kind.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The owner was disabled or got a new password, or its family ended, after it was checked.
    package static let ownerGone = StateSurfaceError(
        .ownerGone, "the account, client or family has changed since it was judged; nothing was made")

    /// Equality of the codes; messages are not compared.
    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
    /// Code and message.
    package var description: String { "\(code.rawValue): \(message)" }
}
