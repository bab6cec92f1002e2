import Synchronization

/// A clock that stands still until it is told to move.
final class TestClock: Sendable {
    private let now: Mutex<Int64>

    init(_ start: Int64 = 1_800_000_000_000) { now = Mutex(start) }

    var value: Int64 { now.withLock { $0 } }
    func advance(_ milliseconds: Int64) { now.withLock { $0 += milliseconds } }
    var read: @Sendable () -> Int64 { { self.value } }
}

/// Collects what it is given, from any thread.
final class Collected<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    func append(_ element: Element) { elements.withLock { $0.append(element) } }
    var all: [Element] { elements.withLock { $0 } }
}
