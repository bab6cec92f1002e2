import StateSurface

/// An account whose owner has authenticated, and the method.
package struct ProvedAccount: Sendable {
    /// The methods of authentication.
    package enum Method: Sendable, Equatable {
        /// With the password.
        case password
        /// With a token of this trusted issuer.
        case issuer(String)
        /// Through the identity provider of this name, or with one of its ID tokens.
        case provider(String)
        /// With a passkey.
        case passkey

        /// The reason in the audit log; empty for a password.
        var auditReason: String {
            switch self {
            case .password: ""
            case .issuer: "issuer_token"
            case .provider: "provider"
            case .passkey: "passkey"
            }
        }

        /// The name of the method, as receivers of events are told it.
        var name: String {
            switch self {
            case .password: "password"
            case .issuer: "issuer"
            case .provider(let name): name
            case .passkey: "passkey"
            }
        }
    }

    /// The account as it was when it was checked. It is signed in only if it has not changed since.
    package let account: AccountRecord
    /// The method of authentication.
    package let method: Method
    /// When and how the owner proved it; nil for now, and nothing more.
    package let facts: SignInFacts?
    /// Where it begins at an identity provider, which may end that before the sign-in is written; nil for other methods.
    package let origin: ProviderOrigin?

    /// An account that was authenticated with this method.
    package init(
        _ account: AccountRecord, by method: Method, facts: SignInFacts? = nil, origin: ProviderOrigin? = nil
    ) {
        self.account = account
        self.method = method
        self.facts = facts
        self.origin = origin
    }
}
