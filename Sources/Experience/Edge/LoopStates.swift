import NIOCore
import Synchronization

/// The per-loop states, found by loop; filled once at the start.
final class LoopStates: Sendable {
    private let states = Mutex<[NIOLoopBound<LoopState>]>([])

    func add(_ state: NIOLoopBound<LoopState>) { states.withLock { $0.append(state) } }

    var all: [NIOLoopBound<LoopState>] { states.withLock { $0 } }

    var byLoop: [ObjectIdentifier: NIOLoopBound<LoopState>] {
        Dictionary(all.map { (ObjectIdentifier($0.eventLoop), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns when every loop has done what it had been given before.
    func settled() async {
        for bound in all { try? await bound.eventLoop.submit {}.get() }
    }

    /// Runs on every loop; does not wait.
    func onEach(_ body: @escaping @Sendable (LoopState) -> Void) {
        for bound in all { bound.eventLoop.execute { body(bound.value) } }
    }
}

/// Where the pipeline appears once it has been made.
final class PipelineBox: Sendable {
    private let box = Mutex<EdgePipeline?>(nil)
    var value: EdgePipeline? {
        get { box.withLock { $0 } }
        set { box.withLock { $0 = newValue } }
    }
}
