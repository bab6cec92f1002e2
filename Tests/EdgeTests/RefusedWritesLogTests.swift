import Testing

@testable import Edge
@testable import StateSurface

/// What the log tells of a store that takes no writes, look by look.
@Suite struct RefusedWritesLogTests {
    private let start = ContinuousClock.now

    @Test("Writes that are refused are one line, and a second one when none was for ten seconds")
    func spell() {
        var log = RefusedWritesLog()
        let look = { (log: inout RefusedWritesLog, count: Int, second: Int) in
            log.look(.init(count: count, cause: "full"), isAnswering: true, at: start + .seconds(second))
        }
        #expect(look(&log, 0, 0) == nil)
        #expect(look(&log, 3, 1) == .refuses(cause: "full"))
        #expect(look(&log, 3, 5) == nil)
        #expect(look(&log, 9, 6) == nil)
        #expect(look(&log, 9, 15) == nil)
        #expect(look(&log, 9, 16) == .back(refused: 9))
        #expect(look(&log, 9, 60) == nil)
        #expect(look(&log, 10, 61) == .refuses(cause: "full"))
    }

    @Test("What is refused while the store is away has no line of its own")
    func outage() {
        var log = RefusedWritesLog()
        #expect(log.look(.init(count: 5), isAnswering: false, at: start) == nil)
        #expect(log.look(.init(count: 5), isAnswering: true, at: start + .seconds(1)) == nil)
        #expect(log.look(.init(count: 6, cause: "full"), isAnswering: true, at: start) == .refuses(cause: "full"))
    }
}
