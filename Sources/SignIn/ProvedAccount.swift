import StateSurface

/// An account that was proved, and how.
package struct ProvedAccount: Sendable {
    /// How an account can be proved.
    package enum Method: Sendable, Equatable {
        case password
        /// By a token of this trusted issuer.
        case issuer(String)

        /// What the audit log says of it: nothing for a password.
        var auditReason: String {
            switch self {
            case .password: ""
            case .issuer: "issuer_token"
            }
        }
    }

    /// The account as it was judged. It is signed in only while it is still that.
    package let account: AccountRecord
    package let method: Method

    package init(_ account: AccountRecord, by method: Method) {
        self.account = account
        self.method = method
    }
}
