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
    /// Remembers failed logins; by default nothing is remembered but in memory.
    package var countFailures: FailureCounter = { _, _ in 0 }
    /// Told of a session that is about to end, for a caller who has proved to be entitled to end it: what hangs on it
    /// here need not wait for the store to have written that down. Where the store then fails, it is closed and the
    /// session lives on; the caller is told so and may ask again.
    package var sessionEnding: @Sendable (_ sessionID: String) -> Void = { _ in }

    package init(securityGuard: SecurityGuard, runtime: Runtime, trafficCop: TrafficCop, store: any LoginStore) {
        self.securityGuard = securityGuard
        self.runtime = runtime
        self.trafficCop = trafficCop
        self.store = store
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

/// Why something is refused that neither a session nor an account refuses.
package struct SignInFault: Error, Sendable, Equatable {
    package enum Code: String, Sendable {
        /// The refresh token is not accepted.
        case invalidGrant = "invalid_grant"
        /// The access token was revoked while it was being used.
        case tokenRevoked = "token_revoked"
    }
    package let code: Code
    /// For the audit log and `errors.explain` only.
    package let reason: String

    package init(_ code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}
