/// A claim of access tokens that says something of the account, for services that read the tokens themselves. The gate
/// does not use them: it goes by the account.
package enum ProfileClaim: String, Sendable, CaseIterable {
    /// The e-mail, if it is verified.
    case email
    /// The name for people.
    case name
    /// The groups. A token that would be longer than ``TokenIssuer/profileLimit`` leaves them out, and says so with
    /// `groups_omitted`.
    case groups
}
