/// The names of the registered claims (RFC 7519 section 4.1, RFC 9068 section 2.2).
package enum ClaimName {
    package static let issuer = "iss"
    package static let subject = "sub"
    package static let audience = "aud"
    package static let expiresAt = "exp"
    package static let notBefore = "nbf"
    package static let issuedAt = "iat"
    package static let tokenID = "jti"
    package static let clientID = "client_id"
}
