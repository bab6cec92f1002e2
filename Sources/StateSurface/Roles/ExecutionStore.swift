/// The role for the execution log of intents and for the event stream of each session.
package protocol ExecutionStore: Sendable {
    /// Records an intent before it runs, unless the session already has its id.
    /// - Returns: nil if it was recorded, otherwise the record with the id.
    func begin(execution: ExecutionRecord) async throws -> ExecutionRecord?
    /// Records the outcome and appends it to the session's stream in one transaction.
    /// - Parameter payload: returns the event's JSON for the new sequence number.
    /// - Returns: the event; if it was finished before, the recorded one.
    func finish(
        sessionID: String, intentID: String, at: Milliseconds, payload: @escaping @Sendable (Int64) -> String
    ) async throws -> EventRecord
    func execution(sessionID: String, intentID: String) async throws -> ExecutionRecord?
    /// Executions that began and were not finished, and whose node is not among the living ones.
    func interruptedExecutions(livingNodes: Set<String>, limit: Int) async throws -> [ExecutionRecord]
    /// Events after `seq`, oldest first, at most `limit`.
    func events(sessionID: String, after seq: Int64, limit: Int) async throws -> [EventRecord]
    /// The first kept and the last sequence number of the stream; (1, 0) if it is empty.
    func eventBounds(sessionID: String) async throws -> (first: Int64, last: Int64)
}
