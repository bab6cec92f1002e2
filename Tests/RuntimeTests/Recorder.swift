import Synchronization

/// Keeps what it is given, for a test to look at or to wait for.
final class Recorder<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }

    func append(_ element: Element) { elements.withLock { $0.append(element) } }

    /// Waits until so many have come; gives up after five seconds.
    @discardableResult
    func wait(for count: Int) async -> [Element] {
        let deadline = ContinuousClock.now + .seconds(60)
        while all.count < count, ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(1))
        }
        return all
    }
}
