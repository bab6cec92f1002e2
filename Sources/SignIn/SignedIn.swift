import Runtime
import SecurityGuard
import StateSurface

/// What came of a sign-in: tokens of a new family, and the session that it is at home in.
package struct SignedIn: Sendable {
    package let account: AccountRecord
    package let tokens: IssuedTokens
    package let session: IssuedSession
    package let plan: SignInPlan

    package var userID: String { account.userID }
    package var tenantID: String { account.tenantID }
}
