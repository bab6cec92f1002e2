import Encodings
import JOSE

/// What an assertion says of a caller. What is nil or empty is left out.
package struct AssertedIdentity: Sendable {
    /// The user or client.
    let subject: String?
    /// Their tenant.
    let tenantID: String?
    /// The OAuth client of the token.
    let clientID: String?
    /// The token's scopes, separated by spaces.
    let scope: String?
    /// The verified e-mail of the account.
    let email: String?
    /// The name of the account.
    let name: String?
    /// The groups of the account.
    let groups: [String]
    /// The session id, only for a Runtime.
    let sessionID: String?

    package init(
        subject: String?, tenantID: String?, clientID: String?, scope: String?, email: String?, name: String?,
        groups: [String], sessionID: String?
    ) {
        self.subject = subject
        self.tenantID = tenantID
        self.clientID = clientID
        self.scope = scope
        self.email = email
        self.name = name
        self.groups = groups
        self.sessionID = sessionID
    }

    var claims: [(name: String, value: JSONValue)] {
        let texts = [
            (ClaimName.subject, subject), (ClaimName.tenantID, tenantID), (ClaimName.clientID, clientID),
            (ClaimName.scope, scope), (ClaimName.email, email), (ClaimName.name, name),
            (ClaimName.session, sessionID),
        ]
        var claims = texts.compactMap { name, text in text.map { (name: name, value: JSONValue.string($0)) } }
        if !groups.isEmpty { claims.append((ClaimName.groups, .array(groups.map(JSONValue.string)))) }
        return claims
    }
}
