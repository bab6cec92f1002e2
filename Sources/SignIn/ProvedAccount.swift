import StateSurface

/// An account whose owner has authenticated, and the method.
package struct ProvedAccount: Sendable {
    /// The methods of authentication.
    package enum Method: Sendable, Equatable {
        /// With the password.
        case password
        /// With a token of this trusted issuer.
        case issuer(String)

        /// The reason in the audit log; empty for a password.
        var auditReason: String {
            switch self {
            case .password: ""
            case .issuer: "issuer_token"
            }
        }
    }

    /// The account as it was when it was checked. It is signed in only if it has not changed since.
    package let account: AccountRecord
    /// The method of authentication.
    package let method: Method

    /// An account that was authenticated with this method.
    package init(_ account: AccountRecord, by method: Method) {
        self.account = account
        self.method = method
    }
}
