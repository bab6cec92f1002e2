import Foundation

/// Asks again and again until `condition` holds or the time is over, for what no event tells of.
///
///     #expect(try await eventually { try !gateway.isHealthy(token) })
///
/// - Parameter limit: what is waited for comes within a second; the machine that runs the tests may be slow and busy.
/// - Returns: whether it held.
package func eventually(
    within limit: Duration = .seconds(30), _ condition: () async throws -> Bool
) async throws -> Bool {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
        if try await condition() { return true }
        try await Task.sleep(for: .milliseconds(10))
    }
    return try await condition()
}

/// As ``eventually(within:_:)``, for what blocks anyway: tries again and again until `attempt` returns something or the
/// time is over. Sleeps on the thread of its caller.
///
/// - Returns: what it returned; nil if it never returned anything.
package func blockingEventually<Value>(
    within limit: Duration = .seconds(30), _ attempt: () throws -> Value?
) rethrows -> Value? {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
        if let value = try attempt() { return value }
        Thread.sleep(forTimeInterval: 0.1)
    }
    return try attempt()
}
