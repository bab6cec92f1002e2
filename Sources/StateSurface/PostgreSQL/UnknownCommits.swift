/// The commits that this node has given up on, and that the server may still do: a commit that waits for a standby is
/// done when the standby is back, however long that takes.
///
/// Until it is certain that all of them have been decided, the node reads its own rows of the change log, too. The
/// numbers of these transactions are not known, because the server's answer did not come. So the node lets them arrive
/// at the server, then takes a number of its own, which is higher than theirs, and waits until no transaction below it
/// is running.
struct UnknownCommits {
    /// How long a transaction that was given up on may take to get its number. What was sent to the server arrives
    /// there within seconds (`tcp_user_timeout`), or not at all.
    static let arrival = Duration.seconds(60)

    /// When all of them have their numbers; nil if there are none.
    private var numberedFrom: ContinuousClock.Instant?
    /// All of them have lower numbers; nil as long as no such number is known.
    private var bound: UInt64?

    /// Whether there are any.
    var areOpen: Bool { numberedFrom != nil }

    /// Adds one that was given up on at this time.
    mutating func add(at instant: ContinuousClock.Instant) {
        (numberedFrom, bound) = (instant + Self.arrival, nil)
    }

    /// Whether the server is to be asked for a number now.
    func needsBound(at instant: ContinuousClock.Instant) -> Bool {
        guard let numberedFrom else { return false }
        return bound == nil && instant >= numberedFrom
    }

    /// Remembers a number that the server was asked for at this time. It is of no use if one was added meanwhile.
    mutating func setBound(_ number: UInt64, askedAt instant: ContinuousClock.Instant) {
        if needsBound(at: instant) { bound = number }
    }

    /// Forgets them if a look at the log has found the rows of them all.
    ///
    /// - Parameter xmin: all transactions with lower numbers had ended when the look was taken, which included this
    ///   node's own rows.
    mutating func looked(xmin: UInt64) {
        guard let bound, xmin >= bound else { return }
        (numberedFrom, self.bound) = (nil, nil)
    }

    /// The server may be another one from now on, with other numbers, so that it has to be asked again.
    mutating func lostConnection() { bound = nil }
}
