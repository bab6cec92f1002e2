/// The names of the registered claims (RFC 7519 section 4.1, RFC 9068 section 2.2).
enum ClaimName {
    static let issuer = "iss"
    static let subject = "sub"
    static let audience = "aud"
    static let expiresAt = "exp"
    static let notBefore = "nbf"
    static let issuedAt = "iat"
    static let tokenID = "jti"
    static let clientID = "client_id"
}
