import Encodings
import Synchronization

@testable import Runtime

/// Counts how often it was run.
final class CountingRealm: Realm {
    let intents = ["count"]
    let runs = Atomic<Int>(0)

    func perform(_ intent: Intent, in context: RealmContext) async -> RealmOutcome {
        .result(.number(JSONNumber(Int64(runs.add(1, ordering: .relaxed).newValue))))
    }
}
