import EdgeCore
import NIOCore
import NIOPosix

/// One upstream of a pool, as its event loop sees it.
struct UpstreamMember {
    /// The most idle connections to one upstream.
    private static let maxIdle = 256

    let target: UpstreamTarget
    /// What all event loops know of it.
    let health: SharedUpstreamHealth
    var idle: [UpstreamConnection] = []
    /// How many connections are lent or being made.
    var active = 0
    /// How many of them are for checks, which take no request's place.
    var checking = 0
    /// How many connections requests have.
    var busy: Int { max(0, active - checking) }
    /// How many connections in a row could not be made.
    var failures = 0
    var backOffUntil = NIODeadline.uptimeNanoseconds(0)
    /// Made once, since making it costs as much as the connection.
    var bootstrap: ClientBootstrap?
    /// Tells whether it is up; made when there is something to tell.
    var reportUp: ((_ isUp: Bool) -> Void)?

    init(_ target: UpstreamTarget, _ health: SharedUpstreamHealth) {
        self.target = target
        self.health = health
    }

    /// The idle connection that was used last, if that was not before `oldest` and it should still be open.
    mutating func takeIdle(notBefore oldest: NIODeadline) -> UpstreamConnection? {
        while let connection = idle.last {
            // Those before it have been idle for even longer.
            guard connection.idleSince >= oldest else { return nil }
            idle.removeLast()
            if connection.isOpen {
                active += 1
                return connection
            }
        }
        return nil
    }

    /// Takes a connection back after a complete and clean exchange; false where it is to be closed.
    mutating func giveBack(_ connection: UpstreamConnection) -> Bool {
        active -= 1
        guard connection.isOpen, idle.count < Self.maxIdle else { return false }
        idle.append(connection)
        return true
    }

    /// Gives the place of a lent connection back, where it was counted.
    func leave(_ connection: UpstreamConnection) {
        guard connection.isCounted else { return }
        connection.isCounted = false
        health.leave()
    }
}
