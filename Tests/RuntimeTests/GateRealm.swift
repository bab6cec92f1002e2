import BasicsForTests
import Encodings
import Synchronization

@testable import Runtime

/// Holds every call until it is opened.
final class GateRealm: Realm {
    let intents = ["gate"]
    let entered = Collected<String>()
    private let isOpen = Atomic<Bool>(false)

    func open() { isOpen.store(true, ordering: .releasing) }

    func perform(_ intent: Intent, in context: RealmContext) async -> RealmOutcome {
        entered.append(intent.id)
        while !isOpen.load(ordering: .acquiring) { await Task.yield() }
        return .result(true)
    }
}
