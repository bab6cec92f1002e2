import Answers

/// What the gate says to a request that it does not refuse.
package enum GateVerdict {
    /// Memory has said yes.
    case admitted(Admission)
    /// Memory does not know: the store has to be asked before anybody is told no.
    case askStore(StoreQuestion)
}

/// A question to the store on which an admission hangs. Asked off the event loop.
package struct StoreQuestion: Sendable {
    private let ask: @Sendable () async throws -> Admission

    init(_ ask: @escaping @Sendable () async throws -> Admission) { self.ask = ask }

    /// Asks the store.
    ///
    /// - Throws: the refusal; `store_unavailable` where the store did not answer.
    package func answer() async throws(Problem) -> Admission {
        do {
            return try await ask()
        } catch {
            throw Problem.from(error)
        }
    }
}
