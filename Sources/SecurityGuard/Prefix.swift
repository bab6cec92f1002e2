/// The prefixes that distinguish kinds of identifiers and secrets.
package enum Prefix {
    /// User ids.
    package static let user = "usr_"
    /// Client ids.
    package static let client = "cli_"
    /// Tenants that are created for one registered account.
    package static let tenant = "ten_"
    /// Secrets of clients.
    package static let clientSecret = "cls_"
    /// Refresh tokens.
    package static let refreshToken = "ref_"
}

/// The client id in tokens of password logins.
package let firstPartyClientID = "gatehouse"
