import Runtime
import SecurityGuard
import StateSurface
import TrafficCop

/// The use cases of signing in and out, each one function.
///
/// Most write in one transaction of the store: signing in, refreshing, logging out, changing a password, ending one
/// session, opening one with a token, revoking a token, beginning and ending a protocol session. Several transactions
/// are needed to prove who a person is through a provider or with a passkey, and to end all sessions of a provider (one
/// for each family). `docs/architecture.md` has all of these, and what a crash between the transactions leaves.
///
/// - Signing in: `SignInService+signIn.swift`; by password: `SignInService+password.swift`; through a provider:
///   `SignInService+external.swift`; with a token that is handed in: `SignInService+subjectToken.swift`.
/// - Refreshing: `SignInService+refresh.swift`.
/// - Logging out, ending a session, revoking a token: `SignInService+ending.swift`.
/// - What a provider ends: `SignInService+provider.swift`.
/// - Sessions opened with a token, or by anyone: `SignInService+claims.swift`; those of an agent protocol:
///   `SignInService+protocolSessions.swift`.
///
/// It does not depend on HTTP: requests are parsed and results are rendered elsewhere. A refusal is thrown as
/// ``SignInFault``, `SessionFault`, `AuthError` or `Denial`; a failure of the store is thrown as the store's error.
///
/// **Homes and guests.** The home of a family of refresh tokens is the session that its sign-in created, upgraded or
/// resumed. Other sessions opened with its tokens are its guests. Ending a guest ends nothing else. Ending the home,
/// logging out, and using a refresh token twice end the family, its access tokens, its home and its guests.
///
/// What depends on a session, such as its sockets, ends by the store's feed, which has told this node of every end when
/// the transaction returns, and of none that the store has refused.
package struct SignInService: Sendable {
    let securityGuard: SecurityGuard
    let runtime: Runtime
    let trafficCop: TrafficCop
    let store: any LoginStore & SingleUseStore
    /// Counts failed logins for all nodes. By default they are counted in memory only.
    let countFailures: FailureCounter

    /// The service with its parts.
    package init(
        securityGuard: SecurityGuard, runtime: Runtime, trafficCop: TrafficCop,
        store: any LoginStore & SingleUseStore,
        countFailures: @escaping FailureCounter = { _, _ in 0 }
    ) {
        self.securityGuard = securityGuard
        self.runtime = runtime
        self.trafficCop = trafficCop
        self.store = store
        self.countFailures = countFailures
    }

    /// Runs a transaction, and repeats it if other writers changed the same records.
    /// - Throws: `SessionFault` `.conflict` if every attempt fails; the store's errors.
    func transact<Outcome: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        for _ in 0..<SessionRaced.attempts {
            do {
                return try await store.transaction(body)
            } catch is SessionRaced {
                // The transaction was rolled back.
            }
        }
        throw SessionFault(.conflict)
    }
}

/// Counts failed logins for all nodes and across restarts. It adds to a counter, and returns the sum of the last
/// minute.
package typealias FailureCounter = @Sendable (_ key: String, _ adding: Int64) async throws -> Int64
