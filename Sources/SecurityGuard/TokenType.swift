/// The `typ` values of the gateway's tokens.
package enum TokenType {
    package static let accessToken = "at+jwt"
    package static let accessTokenMediaType = "application/at+jwt"
    package static let assertion = "gatehouse-assertion+jwt"
}
