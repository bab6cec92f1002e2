import Foundation

/// Runs blocking jobs at the same time, each on a thread of its own, and returns what they made in their order.
func together<Value: Sendable>(_ jobs: [@Sendable () throws -> Value]) async throws -> [Value] {
    try await withThrowingTaskGroup(of: (Int, Value).self) { group in
        for (index, job) in jobs.enumerated() {
            group.addTask { (index, try await onThread(job)) }
        }
        return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
}

/// Runs a blocking job on a thread of its own.
func onThread<Value: Sendable>(_ job: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try job() }) }
    }
}

/// How long a job took, in seconds.
func seconds<Value>(_ job: () throws -> Value) rethrows -> (Double, Value) {
    let start = ContinuousClock.now
    let value = try job()
    return (start.duration(to: .now) / .seconds(1), value)
}

/// The shortest of some measurements, in seconds, of which one below the limit is enough: whatever else a machine does
/// only makes them longer.
func shortest(below limit: Double, _ measure: () throws -> Double) rethrows -> Double {
    var best = try measure()
    for _ in 0..<4 where best >= limit { best = min(best, try measure()) }
    return best
}
