import Runtime
import Synchronization

/// An intent that takes until it is let go, and counts how often it has begun.
final class HeldRealm: Realm {
    private struct State {
        var begun = 0
        var isFree = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    let intents = ["held"]
    private let state = Mutex(State())

    /// How many have begun.
    var begun: Int { state.withLock { $0.begun } }

    /// Lets those that wait go, and those that are yet to come.
    func letGo() {
        let waiting = state.withLock { state in
            state.isFree = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func perform(_ intent: Intent, in context: RealmContext) async -> RealmOutcome {
        let run = state.withLock { state in
            state.begun += 1
            return state.begun
        }
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if !state.isFree { state.waiting.append(continuation) }
                return state.isFree
            }
            if isFree { continuation.resume() }
        }
        return .result(["runs": .integer(Int64(run))])
    }
}
