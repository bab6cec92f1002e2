/// An intent in the execution log.
package struct ExecutionRecord: Sendable, Equatable {
    /// The session.
    package var sessionID: String
    /// The intent's id, chosen by the client and unique in the session.
    package var intentID: String
    /// The name of the intent.
    package var intent: String
    /// The id of the node instance that runs it.
    package var nodeID: String
    /// The session's epoch when it began.
    package var epoch: Int64
    /// When it began.
    package var createdAt: Milliseconds
    /// The sequence number of its event; nil until it is finished.
    package var seq: Int64?
    /// Its event as a JSON object with `seq`; nil until it is finished, and after it was dropped.
    package var outcome: String?

    /// By default an intent that has begun and has no outcome yet.
    package init(
        sessionID: String, intentID: String, intent: String, nodeID: String, epoch: Int64, createdAt: Milliseconds,
        seq: Int64? = nil, outcome: String? = nil
    ) {
        self.sessionID = sessionID
        self.intentID = intentID
        self.intent = intent
        self.nodeID = nodeID
        self.epoch = epoch
        self.createdAt = createdAt
        self.seq = seq
        self.outcome = outcome
    }
}
