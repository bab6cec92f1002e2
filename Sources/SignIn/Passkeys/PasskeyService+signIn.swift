import Encodings
import Passkeys
import Runtime
import SecurityGuard
import StateSurface

extension PasskeyService {
    /// Begins a sign-in in a live session. The answer is the same for every session and account.
    /// - Returns: the options for `navigator.credentials.get()`.
    package func beginSignIn(in session: SessionSnapshot) async throws -> JSONObject {
        let begun = BegunCeremony.authentication(
            party, sessionID: session.id, sessionEpoch: session.epoch, now: clock())
        try await keep(begun.ceremony)
        return begun.options
    }

    /// Judges the answer of the browser, within the rate limits of logins, and stores the use of the passkey.
    ///
    /// - Parameters:
    ///   - answer: `AuthenticationResponseJSON`.
    ///   - session: the live session of the request.
    /// - Returns: the account, to be signed in; its `acr` is `phr`.
    /// - Throws: `AuthError` `.invalidCredentials` for everything that is wrong with the answer, the passkey or the
    ///   account; `Denial` `.rateLimited`; the store's errors.
    package func prove(
        _ answer: JSONObject, in session: SessionSnapshot, clientAddress: String
    ) async throws -> ProvedAccount {
        let assertion = Result { () throws(PasskeyRefusal) in try Assertion(answer) }
        return try await signIn.withinLimits(account: Self.limitKey(assertion), clientAddress: clientAddress) {
            do {
                return try await judge(try assertion.get(), session)
            } catch let refusal as PasskeyRefusal {
                throw refused(refusal.rawValue)
            }
        }
    }

    /// The key of rate limits: the credential that is claimed, known or not. What can't be read counts as one.
    private static func limitKey(_ assertion: Result<Assertion, PasskeyRefusal>) -> String {
        guard case .success(let assertion) = assertion else { return "passkey" }
        return "passkey:" + Base64URL.encode(assertion.credentialID.prefix(64))
    }

    private func judge(_ assertion: Assertion, _ session: SessionSnapshot) async throws -> ProvedAccount {
        guard let hash = assertion.challengeHash else { throw PasskeyRefusal.ceremonyUnknown }
        let ceremony = try await take(challengeHash: hash)
        let stored = try await store.passkey(credentialID: assertion.credentialID)
        let judged = assertion.finish(
            ceremony, stored.flatMap(Passkey.init), party, sessionID: session.id, sessionEpoch: session.epoch,
            now: clock())
        guard let stored else { throw PasskeyRefusal.credentialUnknown }
        let account = try await store.account(userID: stored.userID)
        switch judged {
        case .failure(let refusal): throw refused(refusal.rawValue, account)
        case .success(let used):
            guard let account, !account.disabled else { throw refused("disabled", account) }
            let use = PasskeyUse(
                credentialID: stored.credentialID, userID: stored.userID, judgedSignCount: stored.signCount,
                signCount: Int64(used.signCount), isBackedUp: used.isBackedUp, at: clock())
            // Another sign-in with the same counter was faster, or the passkey was removed.
            guard try await store.use(passkey: use) else {
                throw refused(PasskeyRefusal.counterRegressed.rawValue, account)
            }
            return ProvedAccount(
                account, by: .passkey,
                facts: SignInFacts(authenticatedAt: clock(), acr: Assertion.authenticationContext))
        }
    }

    private func refused(_ reason: String, _ account: AccountRecord? = nil) -> AuthError {
        AuditContext.$method.withValue(ProvedAccount.Method.passkey.name) {
            signIn.securityGuard.record(
                AuditEvent(.loginRefused, reason: reason, tenantID: account?.tenantID, subject: account?.userID))
        }
        return AuthError(.invalidCredentials)
    }
}
