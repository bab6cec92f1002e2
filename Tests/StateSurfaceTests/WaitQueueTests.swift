import BasicsForTests
import StateSurfaceTesting
import Synchronization
import Testing

@testable import StateSurface

@Suite("Those who wait for a connection of the store")
struct WaitQueueTests {
    private final class Refusals: Sendable {
        let list = Mutex<[Int]>([])
        var items: [Int] { list.withLock { $0 } }
    }

    private static let later = ContinuousClock.now + .seconds(3600)

    /// A queue with one server, which is called 7.
    private func queue(limit: Int = 10, _ refusals: Refusals = Refusals()) -> WaitQueue<Int, Int> {
        WaitQueue(servers: [7], limit: limit, busy: "busy") { item, _ in refusals.list.withLock { $0.append(item) } }
    }

    @Test("The first starts the server, the others are served in the order in which they came")
    func order() {
        let queue = queue()
        #expect(queue.add(1, until: Self.later) == 7)
        for item in 2...4 { #expect(queue.add(item, until: Self.later) == nil) }
        #expect(queue.next(for: 7) == [1])
        #expect(queue.next(for: 7, atMost: { $0 - 1 }) == [2, 3])
        #expect(queue.next(for: 7, atMost: { _ in 100 }) == [4])
        #expect(queue.next(for: 7) == [])
        // It has had nothing to do, so it has to be started again.
        #expect(queue.add(5, until: Self.later) == 7)
    }

    @Test("Who finds the queue full is refused, and takes no place of others")
    func full() {
        let refusals = Refusals()
        let queue = queue(limit: 3, refusals)
        for item in 1...5 { _ = queue.add(item, until: Self.later) }
        #expect(refusals.items == [4, 5])
        #expect(queue.next(for: 7) == [1])
        _ = queue.add(6, until: Self.later)
        #expect(queue.next(for: 7, atMost: { $0 }) == [2, 3, 6])
        #expect(refusals.items == [4, 5])
    }

    @Test("Who has waited until its deadline is refused, and the others go on waiting")
    func late() async throws {
        let refusals = Refusals()
        let queue = queue(refusals)
        _ = queue.add(1, until: Self.later)
        _ = queue.add(2, until: .now)
        _ = queue.add(3, until: Self.later)
        #expect(try await eventually(within: .seconds(30)) { refusals.items == [2] })
        #expect(queue.next(for: 7, atMost: { $0 }) == [1, 3])
    }

    @Test("When it is closed, all that wait and all that come are refused")
    func closed() {
        let refusals = Refusals()
        let queue = queue(refusals)
        for item in 1...2 { _ = queue.add(item, until: Self.later) }
        queue.close()
        #expect(queue.add(3, until: Self.later) == nil)
        #expect(refusals.items == [1, 2, 3])
        #expect(queue.next(for: 7) == [])
    }
}
