/// A write that waits for a connection, or that runs with others in one transaction.
struct PostgresWrite: Sendable {
    /// The SELECT that it begins with, if that is known.
    let first: SQLStatement?
    /// Runs the write, and returns the closure that reports its success once it is durable. It may run more than once.
    let run: @Sendable (PostgresTransaction) throws -> @Sendable () -> Void
    /// Reports its failure. Called once, and not after a success was reported.
    let fail: @Sendable (any Error) -> Void
    /// When it fails if no connection is free before.
    let deadline: ContinuousClock.Instant
}

/// The result of a group of writes in one transaction, to be reported now that it is durable.
struct PostgresGroup: Sendable {
    /// Reports each success.
    var reports: [@Sendable () -> Void] = []
    /// The changes to report first.
    var changes: [Change] = []
    /// The changes for other nodes.
    var changesForOthers: [Change] = []
    /// Writes that have to run again by themselves, because they conflicted with another transaction.
    var collided: [PostgresWrite] = []
    /// Failures of single writes, each with its write.
    var failures: [(write: PostgresWrite, error: any Error)] = []
}
