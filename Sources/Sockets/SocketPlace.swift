import Gate
import Runtime
import SecurityGuard

/// A place taken in the census, given back once.
package final class SocketPlace {
    private var census: SocketCensus?
    private let session: String?
    private let user: String?

    /// Takes a place for an admitted socket, counted for its session and its user.
    ///
    /// An anonymous session has no user and counts for itself. A token alone has no session to count for.
    ///
    /// - Returns: nil when a limit is reached.
    package convenience init?(census: SocketCensus, admission: Admission) {
        let tenant = admission.principal?.tenantID ?? admission.permit?.tenantID ?? ""
        let user = (admission.principal?.subject ?? admission.permit?.userID).map { tenant + " " + $0 }
        self.init(census: census, session: admission.permit?.sessionID, user: user)
    }

    /// Takes a place for this session and this user; nil when a limit is reached.
    package init?(census: SocketCensus, session: String?, user: String?) {
        guard census.enter(session: session, user: user) else { return nil }
        self.census = census
        self.session = session
        self.user = user
    }

    /// Gives the place back. Further calls do nothing.
    func leave() {
        census?.leave(session: session, user: user)
        census = nil
    }

    deinit { census?.leave(session: session, user: user) }
}
