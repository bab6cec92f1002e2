/// The member names of the JOSE header (RFC 7515 section 4.1, RFC 7797).
enum HeaderName {
    static let algorithm = "alg"
    static let keyID = "kid"
    static let type = "typ"
    static let contentType = "cty"
    static let critical = "crit"
    static let unencodedPayload = "b64"
    static let compression = "zip"
    static let jwk = "jwk"
    static let jwkSetURL = "jku"
    static let certificateURL = "x5u"
    static let certificateChain = "x5c"
}
