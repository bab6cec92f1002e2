import Synchronization

@testable import StateSurface

/// Remembers what a store told.
final class ChangeRecorder: Sendable {
    private let heard = Mutex<[Change]>([])

    init(_ store: any StateSurface) {
        _ = store.subscribe { [weak self] change in self?.heard.withLock { $0.append(change) } }
    }

    var changes: [Change] { heard.withLock { $0 } }
    func forget() { heard.withLock { $0 = [] } }

    /// Waits until `condition` holds, at most for `limit`; the contract's second by default.
    func records(within limit: Duration = .seconds(1), _ condition: ([Change]) -> Bool) async throws -> Bool {
        try await eventually(within: limit) { condition(self.changes) }
    }
}

/// Asks again and again until the answer is yes or the time is over.
func eventually(within limit: Duration, _ condition: () async throws -> Bool) async throws -> Bool {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
        if try await condition() { return true }
        try await Task.sleep(for: .milliseconds(10))
    }
    return try await condition()
}
