import Answers
import Synchronization

/// Counters of the edge, for `/metrics`. Labels are closed lists.
package final class EdgeMetrics: Sendable {
    package let requests = Atomic<Int>(0)
    let proxied = Atomic<Int>(0)
    let upgrades = Atomic<Int>(0)
    package let connections = Atomic<Int>(0)
    package let openConnections = Atomic<Int>(0)
    private let refusals = Mutex<[ProblemCode: Int]>([:])

    package init() {}

    package func refused(_ code: ProblemCode) {
        refusals.withLock { $0[code, default: 0] += 1 }
    }

    var refusedByCode: [ProblemCode: Int] { refusals.withLock { $0 } }
}
