import NIOCore
import Synchronization

/// The per-loop states, found by loop; filled once at the start.
package final class LoopStates: Sendable {
    private let states = Mutex<[NIOLoopBound<LoopState>]>([])
    /// How often something was given to every loop, and up to which of these all loops are known to be done.
    private let given = Atomic<Int>(0)
    private let done = Atomic<Int>(0)

    package init() {}

    package func add(_ state: NIOLoopBound<LoopState>) { states.withLock { $0.append(state) } }

    package var all: [NIOLoopBound<LoopState>] { states.withLock { $0 } }

    package var byLoop: [ObjectIdentifier: NIOLoopBound<LoopState>] {
        Dictionary(all.map { (ObjectIdentifier($0.eventLoop), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns when every loop has done what it had been given before; at once when it has.
    package func settled() async {
        let wanted = given.load(ordering: .acquiring)
        guard done.load(ordering: .acquiring) < wanted else { return }
        for bound in all { try? await bound.eventLoop.submit {}.get() }
        done.max(wanted, ordering: .acquiringAndReleasing)
    }

    /// Runs on every loop; does not wait.
    package func onEach(_ body: @escaping @Sendable (LoopState) -> Void) {
        for bound in all { bound.eventLoop.execute { body(bound.value) } }
        // Counted once it is in every queue: a caller that sees the count and waits, waits behind it.
        given.add(1, ordering: .acquiringAndReleasing)
    }
}

/// Where the pipeline appears once it has been made.
package final class PipelineBox: Sendable {
    private let box = Mutex<EdgePipeline?>(nil)

    package init() {}
    package var value: EdgePipeline? {
        get { box.withLock { $0 } }
        set { box.withLock { $0 = newValue } }
    }
}
