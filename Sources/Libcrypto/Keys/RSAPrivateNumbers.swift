import CLibcrypto

/// The numbers of a two-prime RSA key, big endian, under their JWK names (RFC 7518 section 6.3). Secret.
package struct RSAPrivateNumbers: Sendable {
    /// The modulus.
    package var n: [UInt8]
    /// The public exponent.
    package var e: [UInt8]
    /// The private exponent.
    package var d: [UInt8]
    /// The first prime.
    package var p: [UInt8]
    /// The second prime.
    package var q: [UInt8]
    /// `d` mod (`p` − 1).
    package var dp: [UInt8]
    /// `d` mod (`q` − 1).
    package var dq: [UInt8]
    /// The inverse of `q` mod `p`.
    package var qi: [UInt8]

    /// The numbers as given. They are checked when a ``PrivateKey`` is made of them.
    package init(
        n: [UInt8], e: [UInt8], d: [UInt8], p: [UInt8], q: [UInt8], dp: [UInt8], dq: [UInt8], qi: [UInt8]
    ) {
        self.n = n
        self.e = e
        self.d = d
        self.p = p
        self.q = q
        self.dp = dp
        self.dq = dq
        self.qi = qi
    }

    init(of key: EVPKey) throws(LibcryptoError) {
        n = try key.number(OSSL_PKEY_PARAM_RSA_N)
        e = try key.number(OSSL_PKEY_PARAM_RSA_E)
        d = try key.number(OSSL_PKEY_PARAM_RSA_D)
        p = try key.number(Name.factor1)
        q = try key.number(Name.factor2)
        dp = try key.number(Name.exponent1)
        dq = try key.number(Name.exponent2)
        qi = try key.number(Name.coefficient1)
    }

    /// The numbers under libcrypto's names.
    var all: [(name: String, bytes: [UInt8])] {
        [
            (OSSL_PKEY_PARAM_RSA_N, n), (OSSL_PKEY_PARAM_RSA_E, e), (OSSL_PKEY_PARAM_RSA_D, d),
            (Name.factor1, p), (Name.factor2, q),
            (Name.exponent1, dp), (Name.exponent2, dq),
            (Name.coefficient1, qi),
        ]
    }
}

/// The names of those RSA parameters whose macros Swift cannot import, because they concatenate two literals.
private enum Name {
    static let factor1 = "rsa-factor1"
    static let factor2 = "rsa-factor2"
    static let exponent1 = "rsa-exponent1"
    static let exponent2 = "rsa-exponent2"
    static let coefficient1 = "rsa-coefficient1"
}
