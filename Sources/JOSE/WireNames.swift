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

/// The member names and fixed values of a JSON Web Key (RFC 7517, RFC 7518 section 6, RFC 8037).
enum JWKName {
    static let keys = "keys"
    static let keyType = "kty"
    static let use = "use"
    static let keyOperations = "key_ops"
    static let algorithm = "alg"
    static let keyID = "kid"
    static let curve = "crv"
    static let x = "x"
    static let y = "y"
    static let modulus = "n"
    static let exponent = "e"
    static let privateNumber = "d"
    static let otherPrimes = "oth"
    static let secret = "k"
    static let publicBytes = "pub"
    static let privateBytes = "priv"

    static let rsa = "RSA"
    static let ec = "EC"
    static let octetKeyPair = "OKP"
    static let algorithmKeyPair = "AKP"
    static let octets = "oct"
    static let ed25519 = "Ed25519"
    static let ed448 = "Ed448"
    static let signature = "sig"
    static let sign = "sign"
    static let verify = "verify"
}

/// A name of three bytes as one number, so that a registered name is recognised with one comparison.
struct ShortName: Equatable {
    private let packed: UInt32

    init?(_ name: String) {
        guard name.utf8.count == 3 else { return nil }
        var name = name
        packed = name.withUTF8 { UInt32($0[0]) << 16 | UInt32($0[1]) << 8 | UInt32($0[2]) }
    }

    /// A name that was packed when the JSON was read; nil for 0, which stands for names of any other length.
    init?(packed: UInt32) {
        guard packed != 0 else { return nil }
        self.packed = packed
    }

    private init(_ a: Unicode.Scalar, _ b: Unicode.Scalar, _ c: Unicode.Scalar) {
        packed = a.value << 16 | b.value << 8 | c.value
    }

    static let algorithm = ShortName("a", "l", "g")
    static let keyID = ShortName("k", "i", "d")
    static let type = ShortName("t", "y", "p")
    static let contentType = ShortName("c", "t", "y")
    static let unencodedPayload = ShortName("b", "6", "4")
    static let issuer = ShortName("i", "s", "s")
    static let subject = ShortName("s", "u", "b")
    static let audience = ShortName("a", "u", "d")
    static let expiresAt = ShortName("e", "x", "p")
    static let notBefore = ShortName("n", "b", "f")
    static let issuedAt = ShortName("i", "a", "t")
    static let tokenID = ShortName("j", "t", "i")
}
