import Runtime
import SecurityGuard
import StateSurface
import TrafficCop

extension SignInService {
    /// Checks a password, within the rate limits of logins.
    /// - Throws: `AuthError`; `Denial` `.rateLimited`; the store's errors.
    package func provePassword(
        email: String, password: String, tenantID: String?, clientAddress: String
    ) async throws -> ProvedAccount {
        // The key does not include the tenant, so that naming one or none does not give more attempts.
        let account = try await withinLimits(account: Accounts.limitKey(email), clientAddress: clientAddress) {
            try await securityGuard.authenticate(email: email, password: password, tenantID: tenantID)
        }
        return ProvedAccount(account, by: .password)
    }

    /// Registers an account with a password, if the terms allow it. It is not signed in.
    ///
    /// Each call costs a password hash and shows whether an e-mail is known, so it counts against the limit of its
    /// address for failed logins.
    /// - Throws: `Denial` `.rateLimited`; `AuthError`; the store's errors.
    package func register(
        email: String, password: String, tenantID: String?, clientAddress: String, terms: RegistrationTerms
    ) async throws -> AccountRecord {
        if case .limited(let seconds) = trafficCop.allow(.loginByAddress, key: clientAddress) {
            throw Denial(.rateLimited, retryAfterSeconds: seconds)
        }
        return try await securityGuard.register(email: email, password: password, tenantID: tenantID, terms: terms)
    }

    /// Checks the old password and sets a new one. Of the user's sessions, that of the request and the home of its
    /// family stay.
    /// - Parameter session: the session of the request, if any.
    /// - Throws: `AuthError`; `Denial` `.rateLimited`; the store's errors.
    package func changePassword(
        of principal: Principal, current: String, new: String, session: SessionSnapshot?, clientAddress: String
    ) async throws {
        let ended = try await withinLimits(account: principal.subject, clientAddress: clientAddress) {
            guard principal.isUser else { throw AuthError(.invalidCredentials) }
            let password = try await securityGuard.preparePassword(
                userID: principal.subject, current: current, new: new)
            return try await write(password, keeping: principal.familyID, session)
        }
        runtime.noteEnded(ended, reason: "password_changed")
    }

    /// Writes a new password, and ends the user's other families and sessions.
    /// - Returns: the ids of the sessions that ended.
    private func write(
        _ password: PreparedPassword, keeping familyID: String?, _ session: SessionSnapshot?
    ) async throws -> [String] {
        var change = password.change
        change.keptFamilyID = familyID
        change.keptSessionID = session?.id
        do {
            let ended = try await transact { [change] in try $0.changePassword(change) }
            securityGuard.report(password)
            return ended
        } catch let error as StateSurfaceError where error.code == .ownerGone {
            // The password was changed in the meantime, or the caller's family has ended.
            throw securityGuard.changedMeanwhile(password)
        }
    }

    /// Checks the secret of a client (RFC 6749 section 2.3.1), within the rate limits of logins. What failed counts for all
    /// nodes, by address and client id.
    /// - Returns: nil for a client that does not exist, and for a wrong secret.
    /// - Throws: `Denial` `.rateLimited`; the store's errors.
    package func proveClient(id: String, secret: String, clientAddress: String) async throws -> ClientRecord? {
        do {
            return try await withinLimits(account: String(id.prefix(320)), clientAddress: clientAddress) {
                guard let client = try await securityGuard.authenticateClient(id: id, secret: secret) else {
                    throw AuthError(.invalidCredentials)
                }
                return client
            }
        } catch let error as AuthError where error.code == .invalidCredentials {
            return nil
        }
    }

    /// Runs a check of a password, a passkey or a secret within the rate limits. Only failures are counted.
    /// - Parameter account: the key of the account for rate limits, whether or not it exists.
    func withinLimits<Value: Sendable>(
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

    /// Checks the failures counted by all nodes, which takes two small reads.
    private func requireFewFailures(_ attempt: LoginAttempt) async throws {
        guard trafficCop.limitsLogins else { return }
        let counters = attempt.counters
        let byAccount = try await countFailures(counters.byAccount, 0)
        let byAddress = try await countFailures(counters.byAddress, 0)
        let denial = trafficCop.judge(attempt, failuresByAddress: byAddress, failuresByAccount: byAccount)
        if let denial { throw denial }
    }

    /// Counts a failure in the store. If the store fails, the refusal stays the same, because the failure has been
    /// counted in memory.
    private func count(_ attempt: LoginAttempt) async {
        guard trafficCop.limitsLogins else { return }
        let counters = attempt.counters
        _ = try? await countFailures(counters.byAccount, 1)
        _ = try? await countFailures(counters.byAddress, 1)
    }
}
