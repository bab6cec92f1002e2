import Synchronization

/// Makes connections, and prevents all workers from dialling an unreachable server at the same time: after a failure,
/// the others fail too.
final class ConnectGate: Sendable {
    private let connect: @Sendable () throws -> Connection
    private let lastFailure = Mutex<(at: ContinuousClock.Instant, fault: PostgresFault)?>(nil)

    init(_ connect: @escaping @Sendable () throws -> Connection) {
        self.connect = connect
    }

    /// Waits for a connection.
    ///
    /// - Parameters:
    ///   - attempt: the caller's attempt that is under way. It is left there if it takes longer than `patience`.
    func connection(
        within patience: Duration, _ attempt: inout ConnectionAttempt?
    ) throws -> Connection {
        if attempt == nil, let last = lastFailure.withLock({ $0 }), last.at.duration(to: .now) < .milliseconds(200) {
            throw last.fault
        }
        let current = attempt ?? ConnectionAttempt(connect)
        attempt = current
        do {
            guard let result = current.result(within: patience) else {
                throw PostgresFault.unreachable("finding and dialling the server takes too long")
            }
            attempt = nil
            let connection = try result.get()
            lastFailure.withLock { $0 = nil }
            return connection
        } catch let fault as PostgresFault {
            lastFailure.withLock { $0 = (.now, fault) }
            throw fault
        }
    }
}
