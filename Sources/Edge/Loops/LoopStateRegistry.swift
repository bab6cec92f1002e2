import NIOCore
import Synchronization

/// The states of all event loops; filled once at the start.
package final class LoopStateRegistry: Sendable {
    private let states = Mutex<[NIOLoopBound<LoopState>]>([])
    /// How many jobs were given to every loop, and how many of them all loops are known to have done.
    private let given = Atomic<Int>(0)
    private let done = Atomic<Int>(0)

    /// Creates the collection without states.
    package init() {}

    /// Adds the state of a loop.
    package func add(_ state: NIOLoopBound<LoopState>) { states.withLock { $0.append(state) } }

    /// The states of all loops.
    package var all: [NIOLoopBound<LoopState>] { states.withLock { $0 } }

    /// The states by loop.
    package var byLoop: [ObjectIdentifier: NIOLoopBound<LoopState>] {
        Dictionary(all.map { (ObjectIdentifier($0.eventLoop), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns when every loop has done the jobs that it was given before; at once when it already has. Jobs of a loop
    /// are done in the order in which they were given, so one empty job shows that all before it are done.
    package func settled() async {
        let wanted = given.load(ordering: .acquiring)
        guard done.load(ordering: .acquiring) < wanted else { return }
        for bound in all { try? await bound.eventLoop.submit {}.get() }
        done.max(wanted, ordering: .acquiringAndReleasing)
    }

    /// Runs a job on every loop, without waiting for it. Jobs that one caller gives are done in that order on every
    /// loop.
    package func onEach(_ body: @escaping @Sendable (LoopState) -> Void) {
        for bound in all { bound.eventLoop.execute { body(bound.value) } }
        // Counted once it is in every queue: a caller that sees the count and waits, waits until it is done.
        given.add(1, ordering: .acquiringAndReleasing)
    }
}
