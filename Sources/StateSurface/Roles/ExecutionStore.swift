/// The execution log of intents, and the stream of events that each session has.
package protocol ExecutionStore: Sendable {
    /// Write-ahead: records the intent unless its id is taken in this session.
    /// - Returns: nil when recorded, else the record that holds the id.
    func begin(execution: ExecutionRecord) async throws -> ExecutionRecord?
    /// Records the outcome and appends it to the session's stream in one transaction.
    /// - Parameter payload: given the new sequence number, returns the event's JSON.
    /// - Returns: the event; the recorded one if it was finished before.
    func finish(
        sessionID: String, intentID: String, at: Milliseconds, payload: @escaping @Sendable (Int64) -> String
    ) async throws -> EventRecord
    func execution(sessionID: String, intentID: String) async throws -> ExecutionRecord?
    /// Executions that began but never finished and whose node is no longer alive (`nodeID` not in the living).
    func interruptedExecutions(livingNodes: Set<String>, limit: Int) async throws -> [ExecutionRecord]
    /// Events after `seq`, oldest first.
    func events(sessionID: String, after seq: Int64, limit: Int) async throws -> [EventRecord]
    /// First kept and last sequence number of the stream; (1, 0) when it is empty.
    func eventBounds(sessionID: String) async throws -> (first: Int64, last: Int64)
}
