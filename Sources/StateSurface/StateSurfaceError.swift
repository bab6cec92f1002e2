/// Why the store could not do what it was asked.
package struct StateSurfaceError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// The store can't be reached, or can't do it now: try again.
        case unavailable
        /// A record of this name exists already.
        case duplicate
        /// What the store holds can't be trusted.
        case corrupt
        /// The store has no room left.
        case full
        /// The store refuses this gateway, or its settings name none that could be used.
        case misconfigured
        /// The store refused a statement.
        case failed
        /// The account, client or family that something was to be made for has changed since it was judged.
        case ownerGone
    }
    package let code: Code
    /// For the operator's log. Never holds a value of a row.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The owner was disabled, given a new password, or its family ended, since it was judged.
    package static let ownerGone = StateSurfaceError(
        .ownerGone, "the account, client or family has changed since it was judged; nothing was made")

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
    package var description: String { "\(code.rawValue): \(message)" }
}
