import StateSurface
import Synchronization

/// Remembers what a feed told.
package final class ChangeRecorder: Sendable {
    private let told = Mutex<[Change]>([])

    package init(_ feed: any ChangeFeed) {
        _ = feed.subscribe { [weak self] change in self?.told.withLock { $0.append(change) } }
    }

    package var changes: [Change] { told.withLock { $0 } }
    package func forget() { told.withLock { $0 = [] } }

    /// Waits until `condition` holds, at most for `limit`. Other nodes are told within a second; the machine that runs the
    /// tests may be busy.
    package func hears(
        within limit: Duration = .seconds(30), _ condition: ([Change]) -> Bool
    ) async throws -> Bool {
        try await eventually(within: limit) { condition(changes) }
    }
}

/// Asks again and again until the answer is yes or the time is over.
package func eventually(within limit: Duration, _ condition: () async throws -> Bool) async throws -> Bool {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
        if try await condition() { return true }
        try await Task.sleep(for: .milliseconds(10))
    }
    return try await condition()
}
