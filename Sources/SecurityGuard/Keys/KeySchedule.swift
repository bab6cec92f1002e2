import JOSE

/// Determines from the entries and the time which key signs, which verify, and when that changes.
package struct KeySchedule: Sendable, Equatable {
    /// The time in milliseconds for which a key is published before it signs: the cache lifetime of the JWKS, and two
    /// seconds for nodes that share the directory to notice the new file.
    package static let lead: Int64 = 300_000 + 2_000

    /// All keys of the directory, retired ones included.
    package var entries: [KeyEntry]
    /// How long a key is needed after it stopped signing, in milliseconds.
    package let tokenReach: Int64

    package init(entries: [KeyEntry], tokenReach: Int64) {
        self.entries = entries
        self.tokenReach = tokenReach
    }

    /// The states of all keys at one time.
    package struct Plan: Sendable, Equatable {
        /// One key of the plan.
        package struct Key: Sendable, Equatable {
            /// The key.
            package let entry: KeyEntry
            /// Its state.
            package let state: KeyState
            /// For `next`, when it begins to sign; for `retiring`, when it is retired.
            package let until: Int64?
        }
        /// In the order of the entries.
        package let keys: [Key]
        /// When the plan changes by itself; nil if it does not.
        package let changesAt: Int64?

        /// The key that signs; nil where none does.
        package var active: KeyEntry? { keys.first { $0.state == .active }?.entry }
        /// The state of a key; nil for one that is not in the plan.
        package func state(of keyID: String) -> KeyState? { keys.first { sameBytes($0.entry.keyID, keyID) }?.state }
    }

    /// - Parameter now: milliseconds since the epoch.
    package func plan(at now: Int64) -> Plan {
        let keys = entries.map { state(of: $0, at: now) }
        return Plan(keys: keys, changesAt: keys.compactMap(\.until).filter { $0 > now }.min())
    }

    private func state(of entry: KeyEntry, at now: Int64) -> Plan.Key {
        if let retiredAt = entry.retiredAt, retiredAt <= now {
            return Plan.Key(entry: entry, state: .retired, until: nil)
        }
        guard let firstUse = entry.firstUseAt else { return Plan.Key(entry: entry, state: .next, until: nil) }
        if firstUse > now { return Plan.Key(entry: entry, state: .next, until: firstUse) }
        guard let superseded = successorStart(of: entry, firstUse: firstUse, at: now) else {
            return Plan.Key(entry: entry, state: .active, until: nil)
        }
        let end = superseded.addingReportingOverflow(tokenReach)
        let until = end.overflow ? Int64.max : end.partialValue
        return Plan.Key(entry: entry, state: until > now ? .retiring : .retired, until: until > now ? until : nil)
    }

    /// When another key replaced this one; nil if none has.
    private func successorStart(of entry: KeyEntry, firstUse: Int64, at now: Int64) -> Int64? {
        entries.compactMap { other -> Int64? in
            // A successor that was retired later still counts, so that the key it replaced does not sign again.
            guard other != entry, let start = other.firstUseAt, start <= now, (other.retiredAt ?? .max) > start else {
                return nil
            }
            // If two keys start at the same time, the one with the greater id signs, so that all nodes choose the same.
            let isLater = start > firstUse || (start == firstUse && Self.precedes(entry.keyID, other.keyID))
            return isLater ? start : nil
        }.min()
    }

    private func isRetired(_ entry: KeyEntry, at now: Int64) -> Bool { entry.retiredAt.map { $0 <= now } ?? false }

    private static func precedes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }
}

// MARK: Operations
extension KeySchedule {
    /// Adds a key. The first one signs at once; a later one waits.
    package mutating func add(_ entry: KeyEntry, now: Int64) {
        var entry = entry
        entry.publishedAt = now
        entry.firstUseAt = plan(at: now).active == nil ? now : nil
        entries.append(entry)
    }

    /// The key that will begin to sign by itself, or nil.
    package func pending(at now: Int64) -> KeyEntry? {
        entries.first { !isRetired($0, at: now) && ($0.firstUseAt ?? .min) > now }
    }

    /// The oldest waiting key of the algorithm (nil for any) that a rotation can use.
    package func standBy(algorithm: SignatureAlgorithm?, at now: Int64) -> KeyEntry? {
        entries.filter { entry in
            !isRetired(entry, at: now) && entry.firstUseAt == nil
                && (algorithm == nil || entry.algorithm == algorithm)
        }.min { $0.publishedAt < $1.publishedAt }
    }

    /// Sets when a key begins to sign: after it has been published for ``lead``, or at once.
    package mutating func promote(keyID: String, now: Int64, immediately: Bool) {
        // Later than the start of the current key, also within the same millisecond, so that the order is defined.
        let earliest = max(now, (plan(at: now).active?.firstUseAt ?? .min) &+ 1)
        for index in entries.indices where sameBytes(entries[index].keyID, keyID) {
            let lead = entries[index].publishedAt.addingReportingOverflow(Self.lead)
            entries[index].firstUseAt = immediately || lead.overflow ? earliest : max(earliest, lead.partialValue)
        }
    }

    /// Retires a key now. The caller must make sure that another one signs.
    package mutating func retire(keyID: String, now: Int64) {
        for index in entries.indices where sameBytes(entries[index].keyID, keyID) { entries[index].retiredAt = now }
    }
}
