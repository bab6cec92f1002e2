/// Why a sign-in whose `state` was good came to nothing.
package enum LoginFailure: Error, Sendable, Equatable {
    /// The provider refused, with this code of RFC 6749 or OpenID Connect.
    case refusedByProvider(String)
    /// The rules of the configuration refused.
    case refusedByRules(IdentityRefusal)
    /// The provider could not be reached, or what it said is not acceptable.
    case provider(ProviderFault)

    /// What the page is told.
    package var loginError: LoginError {
        switch self {
        // A user without an identifier can't be signed in, and that is the provider's fault.
        case .provider, .refusedByRules(.subjectMalformed): .providerUnavailable
        case .refusedByProvider, .refusedByRules: .refused
        }
    }

    /// The reason for the audit log: one of a closed list.
    package var label: String {
        switch self {
        case .refusedByProvider(let code): code
        case .refusedByRules(let refusal): refusal.rawValue
        case .provider(let fault): fault.label
        }
    }
}
