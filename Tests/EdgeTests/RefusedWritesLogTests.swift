import Testing

@testable import Edge
@testable import StateSurface

/// What the log tells of a store that takes no writes, check by check.
@Suite struct RefusedWritesLogTests {
    private let start = ContinuousClock.now

    @Test("Writes that are refused are one line, and a second one when none was for ten seconds")
    func streak() {
        var log = RefusedWritesLog()
        let update = { (log: inout RefusedWritesLog, count: Int, second: Int) in
            log.update(.init(count: count, cause: "full"), isAnswering: true, at: start + .seconds(second))
        }
        #expect(update(&log, 0, 0) == nil)
        #expect(update(&log, 3, 1) == .refuses(cause: "full"))
        #expect(update(&log, 3, 5) == nil)
        #expect(update(&log, 9, 6) == nil)
        #expect(update(&log, 9, 15) == nil)
        #expect(update(&log, 9, 16) == .back(refused: 9))
        #expect(update(&log, 9, 60) == nil)
        #expect(update(&log, 10, 61) == .refuses(cause: "full"))
    }

    @Test("What is refused while the store is away has no line of its own")
    func outage() {
        var log = RefusedWritesLog()
        #expect(log.update(.init(count: 5), isAnswering: false, at: start) == nil)
        #expect(log.update(.init(count: 5), isAnswering: true, at: start + .seconds(1)) == nil)
        #expect(log.update(.init(count: 6, cause: "full"), isAnswering: true, at: start) == .refuses(cause: "full"))
    }
}
