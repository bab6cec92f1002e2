/// Which of a route's upstreams to ask next. Pure: what the upstreams are like, and randomness, are handed in.
package struct UpstreamChoice {
    /// One upstream, as it is now.
    package struct Candidate {
        /// Whether its checks pass and it has not failed too many requests.
        package var isAvailable = true
        /// The share of the usual requests that it is to get, above 0 and up to 1.
        package var weight = 1.0
        /// Whether a connection to it has failed a moment ago.
        package var isBackingOff = false
        /// Its requests in progress, as far as this event loop knows.
        package var active = 0
        /// Whether it has as many requests or connections as it may.
        package var isFull = false

        /// An upstream that may be used and has no requests.
        package init() {}
    }

    /// The decision.
    package enum Pick: Equatable {
        /// This one, by its number.
        case member(Int)
        /// There are upstreams to ask, but all have as many requests or connections as they may have.
        case full
        /// All were tried.
        case none
    }

    /// The share of the upstreams that must be available; where fewer are, all are used.
    package let panic: Double

    /// - Parameter panic: the share of available upstreams, 0 to 1, below which all of them are used.
    package init(panic: Double) { self.panic = panic }

    /// The upstream with the fewest requests among those that are available, in turn among equals.
    ///
    /// - Parameters:
    ///   - excluding: those that were tried for this request.
    ///   - turn: the number to begin with.
    ///   - random: gives numbers from 0 to 1, without 1; asked only for upstreams that get fewer requests than usual.
    package func pick(
        _ candidates: [Candidate], excluding tried: Set<Int>, turn: Int, random: () -> Double
    ) -> Pick {
        let untried = candidates.indices.filter { !tried.contains($0) }
        guard !untried.isEmpty else { return .none }
        let eligible = eligible(candidates, untried)
        let free = eligible.filter { !candidates[$0].isFull }
        guard !free.isEmpty else { return .full }
        // One that has just become available again is passed over in most choices, unless there is no other.
        let willing = free.filter { candidates[$0].weight >= 1 || random() < candidates[$0].weight }
        let order = willing.isEmpty ? free : willing
        let count = candidates.count
        let best = order.min { a, b in
            let (one, other) = (candidates[a], candidates[b])
            if one.isBackingOff != other.isBackingOff { return !one.isBackingOff }
            if one.active != other.active { return one.active < other.active }
            return (a - turn + count) % count < (b - turn + count) % count
        }
        return best.map { .member($0) } ?? .none
    }

    /// Those that may be used: the available ones, unless they are too few to serve for all.
    private func eligible(_ candidates: [Candidate], _ untried: [Int]) -> [Int] {
        let available = candidates.reduce(0) { $0 + ($1.isAvailable ? 1 : 0) }
        if available == 0 || Double(available) < panic * Double(candidates.count) { return untried }
        let usable = untried.filter { candidates[$0].isAvailable }
        // All that are available were tried and could not be reached: any other is better than a refusal.
        return usable.isEmpty ? untried : usable
    }
}
