import SecurityGuard
import TrafficCop

/// Counts failed logins where a restart does not forget them and every node sees them. Adds, and returns the sum of the
/// last minute.
package typealias FailureCounter = @Sendable (_ key: String, _ adding: Int64) async throws -> Int64

extension APICall {
    /// Judges a password within the limits. Only failures count in the end.
    /// - Parameter account: the account as limits know it, whether or not it exists.
    func withinLoginLimits<Value: Sendable>(
        account: String, _ judge: () async throws -> Value
    ) async throws -> Value {
        let cop = services.trafficCop
        let attempt = try cop.admitLogin(address: facts.clientAddress, account: account).get()
        do {
            try await requireFewFailures(attempt)
            let value = try await judge()
            cop.loginDidNotFail(attempt)
            return value
        } catch let denial as Denial {
            throw denial
        } catch {
            if (error as? AuthError)?.code == .invalidCredentials {
                await count(attempt)
            } else {
                cop.loginDidNotFail(attempt)
            }
            throw error
        }
    }

    /// What this node has not seen itself: two small reads, beside the hash that follows.
    private func requireFewFailures(_ attempt: LoginAttempt) async throws {
        guard services.trafficCop.limitsLogins else { return }
        let counters = attempt.counters
        let byAccount = try await services.countFailures(counters.byAccount, 0)
        let byAddress = try await services.countFailures(counters.byAddress, 0)
        let denial = services.trafficCop.judge(
            attempt, failuresByAddress: byAddress, failuresByAccount: byAccount)
        if let denial { throw denial }
    }

    /// A store that has just gone away does not make the refusal another one: memory has counted it already.
    private func count(_ attempt: LoginAttempt) async {
        guard services.trafficCop.limitsLogins else { return }
        let counters = attempt.counters
        _ = try? await services.countFailures(counters.byAccount, 1)
        _ = try? await services.countFailures(counters.byAddress, 1)
    }
}
