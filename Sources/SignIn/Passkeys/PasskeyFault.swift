/// Why a passkey is not registered, or not known. A failed sign-in with one is an `AuthError` like that of a password.
package struct PasskeyFault: Error, Sendable, Equatable {
    /// The kinds of refusal.
    package enum Code: String, Sendable {
        /// The answer of the browser is not accepted.
        case refused
        /// The account has as many passkeys as it may have.
        case tooMany = "too_many_passkeys"
        /// The name is empty, too long or contains control characters.
        case nameMalformed = "passkey_name"
        /// The account has no such passkey.
        case unknown
    }
    /// The kind of refusal.
    package let code: Code
    /// The reason, for the audit log and `errors.explain` only.
    package let reason: String

    /// A refusal with a reason; by default the name of its kind.
    package init(_ code: Code, reason: String? = nil) {
        self.code = code
        self.reason = reason ?? code.rawValue
    }

    /// Equality of the codes; reasons are not compared.
    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}
