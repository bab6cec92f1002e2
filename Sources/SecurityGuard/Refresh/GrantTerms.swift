import StateSurface

/// What a client is granted.
package struct GrantTerms: Sendable {
    /// The client.
    package var clientID: String
    /// The resource's identifier.
    package var resource: String
    /// The scopes.
    package var scope: [String]
    /// The id of the session whose end ends the grant; nil if it is kept.
    package var binding: String?
    /// How the person had signed in.
    package var signIn: SignInFacts?

    package init(
        clientID: String, resource: String, scope: [String], binding: String?, signIn: SignInFacts? = nil
    ) {
        self.clientID = clientID
        self.resource = resource
        self.scope = scope
        self.binding = binding
        self.signIn = signIn
    }
}
