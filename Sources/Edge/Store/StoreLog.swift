import Gate

/// Decides what the log says of the store's health: a line when it is lost, one when its grace is over, one when it is
/// back.
struct StoreLog {
    /// What is logged; each is logged once for an outage.
    enum Line: Equatable {
        /// It has been away for longer than it takes to connect again.
        case lost
        /// It has been away for longer than `state.grace`.
        case graceOver
        /// It can be used again.
        case back
    }

    private var logged = StoreHealth.current
    private var wasAway = false

    /// The line to log after one check of the store; nil for none. An outage that only one check sees is not logged,
    /// unless its grace is over already.
    mutating func update(_ health: StoreHealth) -> Line? {
        guard health != .current else {
            wasAway = false
            guard logged != .current else { return nil }
            logged = .current
            return .back
        }
        defer { wasAway = true }
        if health == .lost, logged != .lost {
            logged = .lost
            return .graceOver
        }
        guard logged == .current, wasAway else { return nil }
        logged = .silent
        return .lost
    }
}
