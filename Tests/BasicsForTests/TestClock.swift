import Synchronization

/// A clock that stands still until a test moves it. In milliseconds since the epoch.
package final class TestClock: Sendable {
    private let time: Atomic<Int64>

    package init(_ start: Int64 = 1_800_000_000_000) { time = Atomic(start) }

    package var now: Int64 { time.load(ordering: .sequentiallyConsistent) }

    /// The clock as the modules take it.
    package var read: @Sendable () -> Int64 { { self.now } }

    package func advance(by milliseconds: Int64) { time.add(milliseconds, ordering: .sequentiallyConsistent) }
}
