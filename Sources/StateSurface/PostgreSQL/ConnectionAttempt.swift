import Dispatch

/// An attempt to connect, on a thread of its own.
///
/// libpq looks up the server's name without a limit of time. Who needs the connection waits as long as it can; the
/// attempt goes on, and what comes of it is for the next one.
// @unchecked: the result is set before `isDone` is signalled, and read after it, once.
final class ConnectionAttempt: @unchecked Sendable {
    private let isDone = DispatchSemaphore(value: 0)
    private var result: Result<Connection, any Error>?

    init(_ connect: @escaping @Sendable () throws -> Connection) {
        DispatchQueue(label: "gatehouse.state.connect").async {
            self.result = Result { try connect() }
            self.isDone.signal()
        }
    }

    /// What came of it, for one caller; nil if it takes longer.
    func result(within patience: Duration) -> Result<Connection, any Error>? {
        guard isDone.wait(timeout: .now() + patience / .seconds(1)) == .success else { return nil }
        defer { result = nil }
        return result
    }
}
