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
