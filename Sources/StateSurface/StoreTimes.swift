import Synchronization

/// Tells one observer how long operations take.
final class StoreTimes: Sendable {
    private struct State {
        var observer: (@Sendable (String, Duration) -> Void)?
        /// The names of operations by the functions that run them.
        var names: [UInt: String] = [:]
    }

    private let state = Mutex(State())

    func report(to observer: @escaping @Sendable (String, Duration) -> Void) {
        state.withLock { $0.observer = observer }
    }

    /// Runs an operation and tells the observer its time, also if it fails.
    func time<Value: Sendable>(_ function: StaticString, _ body: () async throws -> Value) async throws -> Value {
        let start = ContinuousClock.now
        defer { record(function, start.duration(to: .now)) }
        return try await body()
    }

    private func record(_ function: StaticString, _ time: Duration) {
        let found = state.withLock { state -> (@Sendable (String, Duration) -> Void, String)? in
            guard let observer = state.observer else { return nil }
            let key = UInt(bitPattern: function.utf8Start)
            if let name = state.names[key] { return (observer, name) }
            let name = Self.name(of: "\(function)")
            state.names[key] = name
            return (observer, name)
        }
        if let (observer, name) = found { observer(name, time) }
    }

    /// `liveSessions(userID:limit:)` as `live_sessions`.
    static func name(of function: String) -> String {
        function.prefix { $0 != "(" }.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
    }
}
