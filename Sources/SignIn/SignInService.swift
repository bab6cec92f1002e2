import Runtime
import SecurityGuard
import StateSurface
import TrafficCop

/// Signing in and out: what has to happen together, each use case one function over one transaction of the store.
///
/// - Signing in: `SignInService+signIn.swift`; by password: `SignInService+password.swift`.
/// - Refreshing: `SignInService+refresh.swift`.
/// - Logging out, ending a session, revoking a token: `SignInService+ending.swift`.
/// - Sessions that are opened with a token: `SignInService+claims.swift`.
///
/// It knows no HTTP: what was presented has been parsed, and what comes of it is rendered elsewhere. A refusal is thrown as
/// ``SignInFault``, `SessionFault`, `AuthError` or `Denial`; a store that fails throws its own error.
///
/// **Homes and guests.** A family of refresh tokens is at home in the session that its sign-in made, upgraded or resumed.
/// Sessions that its tokens opened elsewhere are its guests. A guest ends alone. Ending the home, logging out and using a
/// refresh token twice end the family, its access tokens, its home and its guests.
package struct SignInService: Sendable {
    let securityGuard: SecurityGuard
    let runtime: Runtime
    let trafficCop: TrafficCop
    let store: any LoginStore
    /// Counts failed logins where all nodes see them; by default they are counted in memory alone.
    let countFailures: FailureCounter
    /// Told of a session that is about to end, for a caller who has proved to be entitled to end it: what hangs on it
    /// here need not wait for the store to have written that down. Where the store then fails, it is closed and the
    /// session lives on; the caller is told so and may ask again.
    let sessionEnding: @Sendable (_ sessionID: String) -> Void

    package init(
        securityGuard: SecurityGuard, runtime: Runtime, trafficCop: TrafficCop, store: any LoginStore,
        countFailures: @escaping FailureCounter = { _, _ in 0 },
        sessionEnding: @escaping @Sendable (_ sessionID: String) -> Void = { _ in }
    ) {
        self.securityGuard = securityGuard
        self.runtime = runtime
        self.trafficCop = trafficCop
        self.store = store
        self.countFailures = countFailures
        self.sessionEnding = sessionEnding
    }

    /// Runs a transaction, again while other writers are faster.
    /// - Throws: `SessionFault` `.conflict` when they always are; the store's errors.
    func transact<Outcome: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        for _ in 0..<SessionRaced.attempts {
            do {
                return try await store.transaction(body)
            } catch is SessionRaced {
                // Nothing has happened.
            }
        }
        throw SessionFault(.conflict)
    }
}

/// Counts failed logins where a restart does not forget them and every node sees them. Adds, and returns the sum of the
/// last minute.
package typealias FailureCounter = @Sendable (_ key: String, _ adding: Int64) async throws -> Int64
