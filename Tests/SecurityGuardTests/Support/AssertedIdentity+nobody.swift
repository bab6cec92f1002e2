@testable import SecurityGuard

extension AssertedIdentity {
    /// What is said of an unknown caller: nothing.
    static let nobody = AssertedIdentity(
        subject: nil, tenantID: nil, clientID: nil, scope: nil, email: nil, name: nil, groups: [], sessionID: nil)
}
