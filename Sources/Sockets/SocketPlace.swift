/// A place taken in the census, given back once.
package final class SocketPlace {
    private var census: SocketCensus?
    private let session: String?
    private let user: String?

    /// nil when a cap is reached.
    package init?(census: SocketCensus, session: String?, user: String?) {
        guard census.enter(session: session, user: user) else { return nil }
        self.census = census
        self.session = session
        self.user = user
    }

    func leave() {
        census?.leave(session: session, user: user)
        census = nil
    }

    deinit { census?.leave(session: session, user: user) }
}
