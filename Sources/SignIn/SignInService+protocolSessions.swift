import Encodings
import Runtime
import SecurityGuard
import StateSurface
import TrafficCop

/// Sessions of an agent protocol that the gateway serves itself: each is a session of the gateway, together with the
/// record that binds the protocol's name for it to the caller. The two begin in one transaction and end in one.
extension SignInService {
    /// Opens a session for a token's user, as ``open(_:secretHash:with:)`` does, and binds a protocol session to it.
    ///
    /// - Parameter record: the protocol session for the id of the new session. It names the family of the token.
    /// - Returns: the id of the session, and what was bound.
    /// - Throws: ``SignInFault`` `.tokenRevoked` if the token's family has ended meanwhile, and what
    ///   ``open(_:secretHash:with:)`` throws.
    package func openProtocolSession(
        with principal: Principal, clientAddress: String,
        record recordFor: (_ sessionID: String) -> ProtocolSessionRecord
    ) async throws -> (sessionID: String, protocolSession: ProtocolSessionRecord) {
        let opening = try prepare(Self.intent(principal, clientAddress), with: principal)
        let record = recordFor(opening.sessionID)
        let familyEnd = securityGuard.familyEnd()
        let outcome = try await transact { transaction -> Opened in
            let opened = try open(opening, with: principal, familyEnd, in: transaction)
            if case .written = opened { try bind(record, in: transaction) }
            return opened
        }
        return (try issued(opening, outcome).session.id, record)
    }

    /// The session that all requests of a caller share which name none. It is opened and bound if there is none yet, or
    /// if the one that there is has ended. Of several requests at once one opens it, and the others get the same.
    ///
    /// - Parameters:
    ///   - record: the protocol session by which it is found. Its upstream becomes the id of the session.
    ///   - ended: the protocol session whose session the caller has found to be over; nil if there was none.
    /// - Returns: what is bound now. If another request was faster, its session is not checked here.
    /// - Throws: as ``openProtocolSession(with:clientAddress:record:)``.
    package func openSharedSession(
        with principal: Principal, clientAddress: String, record: ProtocolSessionRecord,
        replacing ended: ProtocolSessionRecord?
    ) async throws -> ProtocolSessionRecord {
        let opening = try prepare(Self.intent(principal, clientAddress), with: principal)
        var next = record
        next.upstream = opening.sessionID
        let familyEnd = securityGuard.familyEnd()
        let outcome = try await transact { [next] transaction -> Shared in
            // Waits for another request that opens the same, before anything is locked.
            let bound = try transaction.protocolSession(hash: next.hash)
            if let bound, ended?.upstream.hasSameBytes(as: bound.upstream) != true { return .found(bound) }
            let opened = try open(opening, with: principal, familyEnd, in: transaction)
            if case .written = opened {
                if let bound { try transaction.end(protocolSession: bound) }
                try bind(next, in: transaction)
            }
            return .opened(opened)
        }
        switch outcome {
        case .found(let bound): return bound
        case .opened(let opened):
            _ = try issued(opening, opened)
            return next
        }
    }

    /// Ends a protocol session and the session of the gateway that it is bound to, as an end of that session by its
    /// owner does. Has no effect on what has ended before.
    ///
    /// - Parameter sessionID: of a session to which the caller was just admitted.
    /// - Throws: the store's errors.
    package func end(protocolSession record: ProtocolSessionRecord, of sessionID: String) async throws {
        _ = try await end(sessionID: sessionID, proof: nil, reason: "logout", protocolSession: record)
    }

    private enum Shared: Sendable {
        case found(ProtocolSessionRecord)
        case opened(Opened)
    }

    private func bind(_ record: ProtocolSessionRecord, in transaction: any StoreTransaction) throws {
        guard try transaction.bind(protocolSession: record) else {
            throw SignInFault(.tokenRevoked, reason: "ended_meanwhile")
        }
    }

    private static func intent(_ principal: Principal, _ clientAddress: String) -> SessionIntent {
        SessionIntent(
            kind: .authenticated, clientAddress: clientAddress, tenantID: principal.tenantID,
            userID: principal.subject)
    }
}
