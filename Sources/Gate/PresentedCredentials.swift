import Answers

/// The credentials that a request presents. Only their form has been checked.
package struct PresentedCredentials: Sendable {
    /// How `Authorization` was used. The token of `Bearer` is ``accessToken`` as well.
    package var authorization = PresentedAuthorization.absent
    /// From `Authorization: Bearer`; in a handshake also from the query or a subprotocol.
    package var accessToken: [UInt8]?
    /// From `Session-Id`; in a handshake also from the query or a subprotocol.
    package var sessionID: [UInt8]?
    /// From `Session-Secret`.
    package var sessionSecret: [UInt8]?
    /// From the gateway's session cookie.
    package var sessionCookie: [UInt8]?
    /// From the gateway's refresh cookie.
    package var refreshCookie: [UInt8]?
    /// From the query of a handshake. Takes the place of token and session.
    package var ticket: [UInt8]?

    /// Creates the credentials of a request that presents none.
    package init() {}

    /// Refuses a value that has the form of another kind of credential than its carrier takes.
    package func requireShapes() throws(Problem) {
        try require(accessToken, .accessToken, "access_token")
        try require(sessionID, .sessionID, "session_id")
        try require(sessionSecret, .sessionSecret, "session_secret")
        try require(sessionCookie, .sessionSecret, "session_cookie")
        try require(refreshCookie, .refreshToken, "refresh_cookie")
        try require(ticket, .ticket, "ticket")
    }

    private func require(_ value: [UInt8]?, _ shape: CredentialShape, _ carrier: String) throws(Problem) {
        guard let value, CredentialShape(value).isSwapped(from: shape) else { return }
        throw Problem(.credentialsSwapped, reason: "\(carrier)_carries_another_kind")
    }
}
