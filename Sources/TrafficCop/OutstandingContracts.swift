import Synchronization

/// The contracts that were issued and not yet used: carrying one out takes it from here, so it happens once.
///
/// What has been used need not be remembered. The table holds only what is still open, and not without bound.
final class OutstandingContracts: Sendable {
    private struct State {
        var expiry: [[UInt8]: Int64] = [:]
    }

    private let state = Mutex(State())
    private let capacity: Int

    init(capacity: Int = 65_536) {
        self.capacity = capacity
    }

    /// Remembers a nonce. False when there is no room.
    func issue(_ nonce: [UInt8], expiresAt: Int64, now: Int64) -> Bool {
        self.state.withLock { state in
            if state.expiry.count >= self.capacity {
                state.expiry = state.expiry.filter { $0.value > now }
            }
            guard state.expiry.count < self.capacity else { return false }
            state.expiry[nonce] = expiresAt
            return true
        }
    }

    /// Uses a nonce up. False when it was never issued or has been used.
    func use(_ nonce: [UInt8]) -> Bool {
        self.state.withLock { $0.expiry.removeValue(forKey: nonce) != nil }
    }

    var count: Int { self.state.withLock { $0.expiry.count } }
}
