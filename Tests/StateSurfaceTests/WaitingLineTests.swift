import StateSurfaceTesting
import Synchronization
import Testing

@testable import StateSurface

@Suite("Those who wait for a connection of the store")
struct WaitingLineTests {
    private final class Refusals: Sendable {
        let list = Mutex<[Int]>([])
        var items: [Int] { list.withLock { $0 } }
    }

    private static let later = ContinuousClock.now + .seconds(3600)

    /// A line with one server, which is called 7.
    private func line(limit: Int = 10, _ refusals: Refusals = Refusals()) -> WaitingLine<Int, Int> {
        WaitingLine(servers: [7], limit: limit, busy: "busy") { item, _ in refusals.list.withLock { $0.append(item) } }
    }

    @Test("The first starts the server, the others are served in the order in which they came")
    func order() {
        let line = line()
        #expect(line.add(1, until: Self.later) == 7)
        for item in 2...4 { #expect(line.add(item, until: Self.later) == nil) }
        #expect(line.next(for: 7) == [1])
        #expect(line.next(for: 7, atMost: { $0 - 1 }) == [2, 3])
        #expect(line.next(for: 7, atMost: { _ in 100 }) == [4])
        #expect(line.next(for: 7) == [])
        // It has had nothing to do, so it has to be started again.
        #expect(line.add(5, until: Self.later) == 7)
    }

    @Test("Who finds the line full is refused, and takes no place of others")
    func full() {
        let refusals = Refusals()
        let line = line(limit: 3, refusals)
        for item in 1...5 { _ = line.add(item, until: Self.later) }
        #expect(refusals.items == [4, 5])
        #expect(line.next(for: 7) == [1])
        _ = line.add(6, until: Self.later)
        #expect(line.next(for: 7, atMost: { $0 }) == [2, 3, 6])
        #expect(refusals.items == [4, 5])
    }

    @Test("Who has waited until its deadline is refused, and the others go on waiting")
    func late() async throws {
        let refusals = Refusals()
        let line = line(refusals)
        _ = line.add(1, until: Self.later)
        _ = line.add(2, until: .now)
        _ = line.add(3, until: Self.later)
        #expect(try await eventually(within: .seconds(30)) { refusals.items == [2] })
        #expect(line.next(for: 7, atMost: { $0 }) == [1, 3])
    }

    @Test("When it is closed, all that wait and all that come are refused")
    func closed() {
        let refusals = Refusals()
        let line = line(refusals)
        for item in 1...2 { _ = line.add(item, until: Self.later) }
        line.close()
        #expect(line.add(3, until: Self.later) == nil)
        #expect(refusals.items == [1, 2, 3])
        #expect(line.next(for: 7) == [])
    }
}
