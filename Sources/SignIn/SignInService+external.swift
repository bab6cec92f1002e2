import Encodings
import IdentityProviders
import Runtime
import SecurityGuard
import StateSurface

extension SignInService {
    /// Signs in a person whom an identity provider has identified, on the session that was sent to the provider. If
    /// that session is refused, the audit log says so.
    ///
    /// - Parameter begunAt: when it was sent there, ``PendingLogin/keptAt``.
    /// - Throws: what ``prove(_:of:begunAt:provenAt:)`` and ``signIn(_:target:named:clientAddress:)`` throw.
    package func signIn(
        _ identity: ExternalIdentity, of provider: ProviderConfiguration, begunAt: Int64?, target: SignInTarget,
        clientAddress: String
    ) async throws -> SignedIn {
        do {
            let proved = try await prove(identity, of: provider, begunAt: begunAt)
            return try await signIn(proved, target: target, clientAddress: clientAddress)
        } catch let fault as SessionFault {
            securityGuard.noteRefusedSignIn(reason: fault.code.rawValue, provider: provider.name)
            throw fault
        }
    }

    /// The account of a person whom an identity provider has identified: found by issuer and subject, or made, and
    /// brought up to date with what the provider says now.
    ///
    /// - An account that was made for the identity gets its e-mail, name, groups, and whether the e-mail is verified.
    ///   The e-mail is no login name.
    /// - An account that was linked by its verified e-mail (`link_verified_email`) keeps its e-mail and gets the rest.
    /// - With `claims.scope`, the scopes are `accounts.default_scope` and those of the claim, at every sign-in. Without
    ///   it, a new account gets `accounts.default_scope`, and others keep theirs.
    ///
    /// - Parameters:
    ///   - begunAt: when the browser was sent to the provider, by the clock of the store; nil for a token that was handed
    ///     in.
    ///   - provenAt: when the person proved who they are, where the provider says no `auth_time`, in milliseconds since
    ///     1970; nil for now.
    /// - Throws: `AuthError` `.invalidCredentials` for a disabled account, and where the provider has ended what the
    ///   sign-in begins with, in which case no account is made; `.conflict` if others keep changing the account; the
    ///   store's errors.
    package func prove(
        _ identity: ExternalIdentity, of provider: ProviderConfiguration, begunAt: Int64? = nil,
        provenAt: Int64? = nil
    ) async throws -> ProvedAccount {
        let origin = ProviderOrigin(identity, of: provider.name, begunAt: begunAt)
        let memory = ProviderMemory(store: store, clock: { [securityGuard] in securityGuard.now })
        guard try await !memory.hasEnded(origin) else { throw endedByProvider(origin) }
        let account = try await account(of: identity, rules: provider)
        guard !account.disabled else {
            securityGuard.noteRefusedSignIn(reason: "disabled", provider: provider.name, account: account)
            throw AuthError(.invalidCredentials)
        }
        // A provider whose clock is ahead does not make a sign-in of the future.
        let now = securityGuard.now
        let facts = SignInFacts(
            authenticatedAt: min(now, identity.authenticatedAt ?? provenAt ?? now), acr: identity.acr,
            provider: provider.name, providerSession: identity.providerSession)
        return ProvedAccount(account, by: .provider(provider.name), facts: facts, origin: origin)
    }

    /// The refusal of a sign-in with what the provider has ended: its session, or all of the person's until then.
    func endedByProvider(_ origin: ProviderOrigin) -> AuthError {
        securityGuard.noteRefusedSignIn(reason: "provider_session_ended", provider: origin.provider)
        return AuthError(.invalidCredentials)
    }

    /// The account of an external identity, up to date.
    private func account(
        of identity: ExternalIdentity, rules provider: ProviderConfiguration
    ) async throws -> AccountRecord {
        let policy = securityGuard.policy
        let now = securityGuard.now
        let linked = provider.linkVerifiedEmail && identity.isEmailVerified ? identity.email : nil
        let scope = provider.claims.scope.map { _ in policy.defaultScope + identity.scopes }
        var account = try await store.identity(
            issuer: identity.issuer, subject: identity.subject, tenantID: identity.tenant,
            linking: linked.map(Accounts.emailKey)
        ) {
            let userID = SecurityGuard.newUserID()
            return AccountRecord(
                userID: userID, tenantID: identity.tenant, email: "", emailKey: AccountRecord.externalKey(userID),
                passwordHash: nil, scope: policy.defaultScope, createdAt: now
            ).described(by: identity, scope: scope)
        }
        // A disabled account is not touched: it is refused.
        for _ in 0..<Self.profileAttempts where !account.disabled {
            let current = account.described(by: identity, scope: scope)
            guard current != account else { return account }
            if try await store.replace(account: current) {
                account = current
                account.version += 1
                return account
            }
            // Another sign-in of the same person, or an operator, was faster.
            guard let changed = try await store.account(userID: account.userID) else {
                throw AuthError(.invalidCredentials)
            }
            account = changed
        }
        guard account.disabled else {
            throw AuthError(.conflict, "the account was changed at the same moment; try again")
        }
        return account
    }

    /// How often the account is written while others change it: of concurrent writers, one succeeds in each round.
    private static var profileAttempts: Int { 32 }
}

extension AccountRecord {
    /// The e-mail key of an account that was made for an external identity: no e-mail can be it.
    static func externalKey(_ userID: String) -> String { "external:" + userID }

    /// Whether the account was made for an external identity, so that what the provider says is all that is known.
    private var isExternal: Bool { emailKey.hasSameBytes(as: Self.externalKey(userID)) }

    /// The account with what a provider says of the person.
    /// - Parameter scope: the scopes that it gets; nil to keep its own.
    fileprivate func described(by identity: ExternalIdentity, scope granted: [String]?) -> AccountRecord {
        var account = self
        if isExternal {
            account.email = identity.email ?? ""
            account.emailVerified = identity.isEmailVerified
        }
        account.name = identity.name
        account.groups = identity.groups
        if let granted {
            account.scope = Array(
                granted.reduce(into: [String]()) { scope, token in
                    if !scope.contains(where: { $0.hasSameBytes(as: token) }) { scope.append(token) }
                }.prefix(64))
        }
        return account
    }
}
