import Encodings
import IdentityProviders
import Libcrypto
import OAuth
import SecurityGuard
import StateSurface

/// Tokens that are handed in instead of a password.
extension SignInService {
    /// The account of a token of an identity provider that takes tokens, or of a trusted issuer, within the rate limits
    /// of logins.
    ///
    /// - Parameters:
    ///   - name: the provider that is to judge the token; nil for the one whose issuer it claims, and for a trusted
    ///     issuer.
    ///   - tenantID: the tenant that the caller asks for; nil for that of the provider or issuer.
    ///   - identified: called for a person whom a provider has identified, before their account is looked for.
    /// - Throws: `AuthError` `.invalidCredentials` for every refusal, with the reason in the audit log; `Denial`
    ///   `.rateLimited`; what ``prove(_:of:begunAt:provenAt:)`` throws; the store's errors.
    package func prove(
        subjectToken text: String, provider name: String?, tenantID: String?, of providers: ProviderDirectory,
        clientAddress: String, identified: (IdentityProvider, ExternalIdentity) -> Void = { _, _ in }
    ) async throws -> ProvedAccount {
        try await AuditContext.$method.withValue("issuer") {
            try await withinTokenLimits(of: text, clientAddress: clientAddress) { () async throws -> ProvedAccount in
                guard let provider = providers.judge(ofToken: text, named: name) else {
                    guard name == nil else { throw refusedToken("provider_takes_no_tokens") }
                    return try await prove(issuerToken: text, tenantID: tenantID)
                }
                let rules = provider.configuration
                switch await provider.identify(subjectToken: text) {
                case .failure(let failure): throw refusedToken(failure.label, provider: rules.name)
                case .success(let identity):
                    guard tenantID?.hasSameBytes(as: identity.tenant) ?? true else {
                        throw refusedToken("tenant_foreign", provider: rules.name)
                    }
                    identified(provider, identity)
                    return try await prove(identity, of: rules, provenAt: identity.issuedAt)
                }
            }
        }
    }

    /// The account of the person whom a JWT of an entry of `issuers` speaks of.
    /// - Parameter tenantID: the tenant that the caller asks for; one of the issuer's.
    private func prove(issuerToken text: String, tenantID: String?) async throws -> ProvedAccount {
        do {
            let proved = try await securityGuard.identify(subjectToken: text, tenantID: tenantID)
            return ProvedAccount(
                proved.account, by: .issuer(proved.issuer),
                facts: SignInFacts(authenticatedAt: proved.authenticatedAt))
        } catch let fault as OAuthFault {
            throw refusedToken(fault.reason)
        }
    }

    private func refusedToken(_ reason: String, provider: String? = nil) -> AuthError {
        securityGuard.noteRefusedSignIn(reason: reason, provider: provider)
        return AuthError(.invalidCredentials)
    }

    /// Runs a check of a token within the rate limits of logins per address.
    ///
    /// - Parameter text: the token. A bad one names no account, so failures count for the token and the address: others
    ///   behind the same address go on.
    private func withinTokenLimits<Value: Sendable>(
        of text: String, clientAddress: String, _ judge: () async throws -> Value
    ) async throws -> Value {
        let token = Base64URL.encode(Digest.sha256(Array(text.utf8)))
        return try await withinLimits(account: "subject_token " + token, clientAddress: clientAddress, judge)
    }
}
