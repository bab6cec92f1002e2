/// Why attacks cannot be made from the material.
public struct MaterialError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of fault.
    public enum Code: String, Sendable {
        /// The valid token is no JWT.
        case tokenUnreadable = "token_unreadable"
        /// The key set is no JWKS.
        case keySetUnreadable = "key_set_unreadable"
        /// The key set does not hold the key of the valid token.
        case keyMissing = "key_missing"
        /// A signed attack was asked for without a signer.
        case issuerMissing = "issuer_missing"
    }

    /// The kind of fault.
    public let code: Code
    /// One sentence that contains no part of the token.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Equality of the codes; descriptions are not compared.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}
