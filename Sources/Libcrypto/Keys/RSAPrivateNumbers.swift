import CLibcrypto

/// The numbers of a two-prime RSA key, big endian, under their JWK names. Secret.
package struct RSAPrivateNumbers: Sendable {
    package var n: [UInt8]
    package var e: [UInt8]
    package var d: [UInt8]
    package var p: [UInt8]
    package var q: [UInt8]
    package var dp: [UInt8]
    package var dq: [UInt8]
    package var qi: [UInt8]

    /// The numbers as given; whether they make a key is found out by making it.
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

    /// The numbers under the names libcrypto knows them by.
    var all: [(name: String, bytes: [UInt8])] {
        [
            (OSSL_PKEY_PARAM_RSA_N, n), (OSSL_PKEY_PARAM_RSA_E, e), (OSSL_PKEY_PARAM_RSA_D, d),
            (Name.factor1, p), (Name.factor2, q),
            (Name.exponent1, dp), (Name.exponent2, dq),
            (Name.coefficient1, qi),
        ]
    }
}

/// The names of libcrypto's RSA parameters whose macros Swift cannot import, because they join two strings.
private enum Name {
    static let factor1 = "rsa-factor1"
    static let factor2 = "rsa-factor2"
    static let exponent1 = "rsa-exponent1"
    static let exponent2 = "rsa-exponent2"
    static let coefficient1 = "rsa-coefficient1"
}
