/// The families of attacks.
public enum AttackCategory: String, Sendable, CaseIterable {
    /// J01: `alg` says that there is no signature (RFC 7518 section 3.6, RFC 8725 section 3.2).
    case none
    /// J02: the signature does not belong to the content (RFC 7515 section 5.2).
    case signature
    /// J03: a public key as the secret of an HMAC (RFC 8725 section 2.1).
    case confusion
    /// J04: the right key under another algorithm (RFC 8725 section 3.1).
    case algorithm
    /// J05, J06: a key or certificate in the header (RFC 7515 sections 4.1.3 and 4.1.6).
    case embeddedKey = "embedded-key"
    /// J06: a URL of a key in the header (RFC 7515 sections 4.1.2 and 4.1.5).
    case remoteKey = "remote-key"
    /// J07: a `kid` that is not the name of a key (RFC 7515 section 4.1.4).
    case keyID = "key-id"
    /// J09, J10, J33: ECDSA signatures out of range or of a wrong length (RFC 7518 section 3.4).
    case ecdsa
    /// J11: EdDSA signatures out of range (RFC 8032 section 5.1.7).
    case eddsa
    /// J12: RSA signatures out of range (RFC 8017 section 8.2.2).
    case rsa
    /// J13: a second encoding of the same bytes (RFC 7515 section 2).
    case base64url
    /// J14: not three segments (RFC 7515 section 3.1).
    case segments
    /// J15: a member twice (RFC 7515 section 4, RFC 7519 section 4).
    case duplicates
    /// J16: malformed JSON (RFC 8259).
    case json
    /// J17: malformed or misleading Unicode (RFC 8259 section 8).
    case text
    /// J18: critical extensions (RFC 7515 section 4.1.11).
    case critical
    /// J19: another kind of token (RFC 8725 section 3.11).
    case type
    /// J20: nested, encrypted or JSON-serialised tokens (RFC 7515 section 7.2).
    case format
    /// J21, J22: `exp`, `nbf` and `iat` (RFC 7519 sections 4.1.4 to 4.1.6).
    case time
    /// J23: `aud` (RFC 7519 section 4.1.3).
    case audience
    /// J24: `iss` (RFC 8725 section 3.8).
    case issuer
    /// J25: the other claims of access tokens (RFC 9068 section 2.2).
    case claims
    /// J26: tokens that are too large.
    case size
    /// J28: where and how the token is sent (RFC 6750 section 2).
    case carrier
    /// S03: credentials of another kind (RFC 8725 section 3.12).
    case swapped
}
