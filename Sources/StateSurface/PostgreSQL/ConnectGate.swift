import Synchronization

/// Makes connections, and prevents all workers from dialling an unreachable server at the same time: after a failure,
/// the others fail too.
final class ConnectGate: Sendable {
    private let pause: Duration
    private let connect: @Sendable () throws -> Connection
    private let lastFailure = Mutex<(at: ContinuousClock.Instant, fault: PostgresFault)?>(nil)

    /// - Parameter pause: how long after a failure no worker dials.
    init(pause: Duration = .milliseconds(200), _ connect: @escaping @Sendable () throws -> Connection) {
        self.pause = pause
        self.connect = connect
    }

    /// Waits for a connection.
    ///
    /// - Parameters:
    ///   - attempt: the caller's attempt that is under way. It is left there if it takes longer than `patience`.
    func connection(
        within patience: Duration, _ attempt: inout ConnectionAttempt?
    ) throws -> Connection {
        if attempt == nil, let last = lastFailure.withLock({ $0 }), last.at.duration(to: .now) < pause {
            throw last.fault
        }
        let current = attempt ?? ConnectionAttempt { try self.dial() }
        attempt = current
        guard let result = current.result(within: patience) else {
            let fault = PostgresFault.unreachable("finding and dialling the server takes too long")
            lastFailure.withLock { $0 = (.now, fault) }
            throw fault
        }
        attempt = nil
        return try result.get()
    }

    /// Makes one connection. Its result is recorded also if no worker waits for it any more.
    private func dial() throws -> Connection {
        do {
            let connection = try connect()
            lastFailure.withLock { $0 = nil }
            return connection
        } catch let fault as PostgresFault {
            lastFailure.withLock { $0 = (.now, fault) }
            throw fault
        }
    }
}
