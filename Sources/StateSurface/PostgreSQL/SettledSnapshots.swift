/// The snapshots of a node's looks at the change log, of which it needs one that is a minute old: a row that such a
/// snapshot shows has been visible to every node for a minute, so that all have read it and it can be removed.
///
/// The time of a row does not say that. It is that of the insert, and a commit that waits for a standby makes the row
/// visible at any time later.
struct SettledSnapshots {
    /// How old a snapshot has to be: rows stay for as long after they have become visible. A reader that has not looked
    /// for ``PostgresListener/longestGap`` starts anew.
    static let age = Duration.seconds(60)
    /// Looks are frequent. Of their snapshots one in this time is kept, so that there are never more than some 60.
    static let spacing = Duration.seconds(1)

    /// From old to new. No more than one is older than ``age``.
    private(set) var kept: [(snapshot: String, takenBy: ContinuousClock.Instant)] = []

    /// - Parameter instant: a time at or after which the server took it.
    mutating func add(_ snapshot: String, takenBy instant: ContinuousClock.Instant) {
        if let last = kept.last, last.takenBy.duration(to: instant) < Self.spacing { return }
        kept.append((snapshot, instant))
        let newest = kept.lastIndex(where: { $0.takenBy.duration(to: instant) >= Self.age })
        if let newest { kept.removeFirst(newest) }
    }

    /// The newest snapshot that is old enough, as PostgreSQL writes it; nil if there is none yet.
    func settled(at instant: ContinuousClock.Instant) -> String? {
        kept.last(where: { $0.takenBy.duration(to: instant) >= Self.age })?.snapshot
    }

    /// Begins anew, because the server may be another one from now on, whose transactions have other numbers.
    mutating func lostConnection() { kept = [] }
}
