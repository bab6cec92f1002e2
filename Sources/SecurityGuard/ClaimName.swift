/// The claims and `typ` values of the gateway's tokens.
enum ClaimName {
    static let issuer = "iss"
    static let subject = "sub"
    static let audience = "aud"
    static let expiresAt = "exp"
    static let notBefore = "nbf"
    static let issuedAt = "iat"
    static let tokenID = "jti"
    static let clientID = "client_id"
    static let tenantID = "tenant_id"
    static let scope = "scope"
    static let familyID = "fid"
    static let session = "session"
    static let authenticatedAt = "auth_time"
    static let contextClass = "acr"
    static let email = "email"
    static let name = "name"
    static let groups = "groups"
    static let groupsOmitted = "groups_omitted"
}

enum TokenType {
    static let accessToken = "at+jwt"
    static let accessTokenMediaType = "application/at+jwt"
    static let assertion = "gatehouse-assertion+jwt"
}
