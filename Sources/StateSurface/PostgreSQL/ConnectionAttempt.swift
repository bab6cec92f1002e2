import Dispatch

/// An attempt to connect, on a thread of its own.
///
/// libpq looks up the server's name without a time limit. A caller waits as long as it can; the attempt goes on, and
/// the next caller gets its result.
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

    /// The result, for one caller; nil if it takes longer.
    func result(within patience: Duration) -> Result<Connection, any Error>? {
        guard isDone.wait(timeout: .now() + patience / .seconds(1)) == .success else { return nil }
        defer { result = nil }
        return result
    }
}
