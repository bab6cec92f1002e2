/// The role for sessions of agent protocols, which belong to whom they were opened for.
package protocol ProtocolSessionStore: Sendable {
    /// Binds a session to its owner, if its family (if it has one) is live.
    /// - Returns: whether the session is now the owner's: false if it is already somebody else's, or the family has
    ///   ended.
    func bind(protocolSession record: ProtocolSessionRecord) async throws -> Bool
    /// The session with this hash, if it was used after `since`; otherwise nil.
    func protocolSession(hash: [UInt8], since: Milliseconds) async throws -> ProtocolSessionRecord?
    /// Records a use.
    func touch(protocolSession hash: [UInt8], at: Milliseconds) async throws
    /// Removes a session, which is reported to every node.
    func end(protocolSession hash: [UInt8]) async throws
}
