import Synchronization

/// A clock that is set by the test.
final class TestClock: Sendable {
    private let time = Atomic<Int64>(1_700_000_000_000)

    var now: Int64 { time.load(ordering: .sequentiallyConsistent) }

    func advance(by milliseconds: Int64) {
        time.add(milliseconds, ordering: .sequentiallyConsistent)
    }
}
