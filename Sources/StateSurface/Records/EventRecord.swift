/// An event of a session's stream.
package struct EventRecord: Sendable, Equatable {
    /// The session.
    package var sessionID: String
    /// The sequence number in the stream, from 1.
    package var seq: Int64
    /// The JSON object as it is sent.
    package var payload: String

    /// - Parameter seq: the number of the event in its session, from 1.
    package init(sessionID: String, seq: Int64, payload: String) {
        self.sessionID = sessionID
        self.seq = seq
        self.payload = payload
    }
}
