import Synchronization

/// Collects what it is given, from any thread.
package final class Collected<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    package init() {}

    package var all: [Element] { elements.withLock { $0 } }

    package func append(_ element: Element) { elements.withLock { $0.append(element) } }

    package func removeAll() { elements.withLock { $0 = [] } }

    /// Waits until there are so many. After a minute it returns what there is.
    @discardableResult
    package func wait(for count: Int) async -> [Element] {
        let deadline = ContinuousClock.now + .seconds(60)
        while all.count < count, ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(1))
        }
        return all
    }
}
