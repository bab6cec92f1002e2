import Synchronization

/// The nonces of the contracts that were issued and not yet used. Using a contract removes its nonce, so it works once.
///
/// Used nonces need not be remembered: what is not in the table is refused. The table holds at most `capacity` entries;
/// when it is full, expired ones are removed first.
final class OutstandingContracts: Sendable {
    private struct State {
        var expiry: [[UInt8]: Int64] = [:]
    }

    private let state = Mutex(State())
    private let capacity: Int

    init(capacity: Int = 65_536) {
        self.capacity = capacity
    }

    /// Remembers a nonce until it is used. False when the table is full of contracts that have not expired.
    func issue(_ nonce: [UInt8], expiresAt: Int64, now: Int64) -> Bool {
        state.withLock { state in
            if state.expiry.count >= self.capacity {
                state.expiry = state.expiry.filter { $0.value > now }
            }
            guard state.expiry.count < self.capacity else { return false }
            state.expiry[nonce] = expiresAt
            return true
        }
    }

    /// Removes a nonce. False when it was never issued or has been used already.
    func use(_ nonce: [UInt8]) -> Bool {
        state.withLock { $0.expiry.removeValue(forKey: nonce) != nil }
    }

    var count: Int { state.withLock { $0.expiry.count } }
}
