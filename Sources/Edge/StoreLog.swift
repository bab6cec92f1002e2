import Gate

/// Decides what the log says of the store's health: a line when it is lost, one when its grace is over, one when it is
/// back.
struct StoreLog {
    /// What is logged; each is told once for an outage.
    enum Line: Equatable {
        /// It has been away for longer than it takes to connect again.
        case lost
        /// It has been away for longer than `state.grace`.
        case graceOver
        /// It can be used again.
        case back
    }

    private var told = StoreHealth.current
    private var wasAway = false

    /// The line to log after one check of the store; nil for none. An outage that only one check sees is not told,
    /// unless its grace is over already.
    mutating func look(_ health: StoreHealth) -> Line? {
        guard health != .current else {
            wasAway = false
            guard told != .current else { return nil }
            told = .current
            return .back
        }
        defer { wasAway = true }
        if health == .lost, told != .lost {
            told = .lost
            return .graceOver
        }
        guard told == .current, wasAway else { return nil }
        told = .silent
        return .lost
    }
}
