import Answers

/// The gate's decision on a request that it does not refuse.
package enum GateVerdict {
    /// Memory has admitted the request.
    case admitted(Admission)
    /// Memory does not know: the store has to be asked before the request can be refused.
    case askStore(StoreQuestion)
}

/// A question to the store that an admission depends on. Asked off the event loop.
package struct StoreQuestion: Sendable {
    private let ask: @Sendable () async throws -> Admission
    /// The personal access token that the question is about; nil for another question.
    var personalToken: [UInt8]?

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
