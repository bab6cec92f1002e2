import StateSurface

/// A new password that is hashed and not yet written.
package struct PreparedPassword: Sendable {
    /// The change to write. It ends all families and sessions of the user, except those that the caller names in it.
    package let change: PasswordChange
    let tenantID: String
}
