import Gate
import Runtime
import SecurityGuard

/// A place of the limiter, given back once. A place that its owner drops without ``leave()`` is given back when it
/// is deallocated. Confined to the socket's loop.
package final class SocketReservation {
    private var limiter: SocketLimiter?
    private let session: String?
    private let user: String?

    /// Takes a place for an admitted socket, counted for its session and its user.
    ///
    /// An anonymous session has no user and counts for itself. A token alone has no session to count for. The user is
    /// named together with the tenant: the same id in two tenants is two users.
    ///
    /// - Returns: nil when a limit is reached.
    package convenience init?(limiter: SocketLimiter, admission: Admission) {
        self.init(
            limiter: limiter, session: admission.permit?.sessionID,
            user: Self.user(
                admission.principal?.subject ?? admission.permit?.userID,
                of: admission.principal?.tenantID ?? admission.permit?.tenantID))
    }

    /// Takes a place for a stream of a session's events, counted like a socket.
    ///
    /// - Returns: nil when a limit is reached.
    package convenience init?(limiter: SocketLimiter, permit: Permit) {
        self.init(
            limiter: limiter, session: permit.sessionID, user: Self.user(permit.userID, of: permit.tenantID))
    }

    private static func user(_ id: String?, of tenant: String?) -> String? { id.map { (tenant ?? "") + " " + $0 } }

    /// Takes a place for this session and this user; nil when a limit is reached.
    package init?(limiter: SocketLimiter, session: String?, user: String?) {
        guard limiter.enter(session: session, user: user) else { return nil }
        self.limiter = limiter
        self.session = session
        self.user = user
    }

    /// Gives the place back. Further calls do nothing.
    func leave() {
        limiter?.leave(session: session, user: user)
        limiter = nil
    }

    deinit { limiter?.leave(session: session, user: user) }
}
