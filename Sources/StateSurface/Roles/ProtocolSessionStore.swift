/// The role for sessions of agent protocols, each bound to the caller that it was opened for.
package protocol ProtocolSessionStore: Sendable {
    /// Binds a session to its owner, if its family (if it has one) is live.
    /// - Returns: whether the session is now the owner's: false if it already belongs to another caller, or the
    ///   family has ended.
    func bind(protocolSession record: ProtocolSessionRecord) async throws -> Bool
    /// The session with this hash, if it was used after `since`; otherwise nil.
    func protocolSession(hash: [UInt8], since: Milliseconds) async throws -> ProtocolSessionRecord?
    /// Records a use.
    func touch(protocolSession hash: [UInt8], at: Milliseconds) async throws
    /// Removes a session, which is reported to every node, if it still belongs to the same caller and was opened by the
    /// record's upstream; an empty one stands for any. Under its hash another may have been bound since it was read.
    func end(protocolSession record: ProtocolSessionRecord) async throws
}
