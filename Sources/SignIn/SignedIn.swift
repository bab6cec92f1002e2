import Runtime
import SecurityGuard
import StateSurface

/// The result of a sign-in: tokens of a new family, and its home session.
package struct SignedIn: Sendable {
    /// The account.
    package let account: AccountRecord
    /// The access token and the refresh token.
    package let tokens: IssuedTokens
    /// The home session with its new secret.
    package let session: IssuedSession
    /// Whether the session was upgraded, resumed or created.
    package let plan: SignInPlan

    /// The account's id.
    package var userID: String { account.userID }
    /// The account's tenant.
    package var tenantID: String { account.tenantID }
}
