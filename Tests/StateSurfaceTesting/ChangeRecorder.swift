import BasicsForTests
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
