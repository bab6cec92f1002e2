/// What a client presents with an authorization code.
package struct CodeExchange: Sendable {
    /// The code.
    package var code: String
    /// The client, which was identified before.
    package var clientID: String
    /// `redirect_uri`, if it was sent.
    package var redirectURI: String?
    /// `code_verifier`, if it was sent.
    package var verifier: String?
    /// `resource`, if it was sent.
    package var resource: String?

    package init(code: String, clientID: String, redirectURI: String?, verifier: String?, resource: String?) {
        self.code = code
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.verifier = verifier
        self.resource = resource
    }
}
