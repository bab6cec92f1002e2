/// A store that says how many writes it could not take, so that a full disk is seen before anyone reads answers.
package protocol RefusingStore: Sendable {
    /// The writes since the store was opened that failed because it took none.
    func refusedWrites() -> RefusedWrites
}

/// The writes that a store could not take: no room is left, or it can't be reached or used.
package struct RefusedWrites: Sendable, Equatable {
    /// How many since the store was opened.
    package var count = 0
    /// Why the last one failed, without a value of a row or a password; empty where there was none.
    package var cause = ""

    /// By default no write was refused.
    package init(count: Int = 0, cause: String = "") {
        self.count = count
        self.cause = cause
    }
}
