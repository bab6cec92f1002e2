import Runtime
import SecurityGuard
import StateSurface
import TrafficCop

extension SignInService {
    /// Proves a password, within the limits of logins.
    /// - Throws: `AuthError`; `Denial` `.rateLimited`; the store's errors.
    package func provePassword(
        email: String, password: String, tenantID: String?, clientAddress: String
    ) async throws -> ProvedAccount {
        // The tenant is left out of the key: naming one or none must not give twice the tries.
        let account = try await withinLimits(account: Accounts.limitKey(email), clientAddress: clientAddress) {
            try await securityGuard.authenticate(email: email, password: password, tenantID: tenantID)
        }
        return ProvedAccount(account, by: .password)
    }

    /// Sets a new password for the old one. Of the user's sessions the one that asked stays, and the home of its family.
    /// - Parameter session: the session that asked, where one did.
    /// - Throws: `AuthError`; `Denial` `.rateLimited`; the store's errors.
    package func changePassword(
        of principal: Principal, current: String, new: String, session: SessionSnapshot?, clientAddress: String
    ) async throws {
        let ended = try await withinLimits(account: principal.subject, clientAddress: clientAddress) {
            guard principal.isUser else { throw AuthError(.invalidCredentials) }
            return try await securityGuard.changePassword(
                userID: principal.subject, current: current, new: new, keepFamily: principal.familyID,
                keepSession: session?.id)
        }
        runtime.noteEnded(ended, reason: "password_changed")
    }

    /// Judges a password within the limits. Only failures count in the end.
    /// - Parameter account: the account as limits know it, whether or not it exists.
    private func withinLimits<Value: Sendable>(
        account: String, clientAddress: String, _ judge: () async throws -> Value
    ) async throws -> Value {
        let attempt = try trafficCop.admitLogin(address: clientAddress, account: account).get()
        do {
            try await requireFewFailures(attempt)
            let value = try await judge()
            trafficCop.loginDidNotFail(attempt)
            return value
        } catch let denial as Denial {
            throw denial
        } catch {
            if (error as? AuthError)?.code == .invalidCredentials {
                await count(attempt)
            } else {
                trafficCop.loginDidNotFail(attempt)
            }
            throw error
        }
    }

    /// What this node has not seen itself: two small reads, beside the hash that follows.
    private func requireFewFailures(_ attempt: LoginAttempt) async throws {
        guard trafficCop.limitsLogins else { return }
        let counters = attempt.counters
        let byAccount = try await countFailures(counters.byAccount, 0)
        let byAddress = try await countFailures(counters.byAddress, 0)
        let denial = trafficCop.judge(attempt, failuresByAddress: byAddress, failuresByAccount: byAccount)
        if let denial { throw denial }
    }

    /// A store that has just gone away does not make the refusal another one: memory has counted it already.
    private func count(_ attempt: LoginAttempt) async {
        guard trafficCop.limitsLogins else { return }
        let counters = attempt.counters
        _ = try? await countFailures(counters.byAccount, 1)
        _ = try? await countFailures(counters.byAddress, 1)
    }
}
