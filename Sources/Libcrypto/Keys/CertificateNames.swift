import CLibcrypto

/// What a certificate is for: the hosts and addresses of its subjectAltName (RFC 5280 section 4.2.1.6).
package struct CertificateNames: Sendable, Equatable {
    /// The DNS names, as written; they may begin with `*.`.
    package private(set) var hosts: [String] = []
    /// The addresses, of 4 or 16 bytes.
    package private(set) var addresses: [[UInt8]] = []

    /// Reads the names of a certificate. One without the extension has none.
    ///
    /// - Parameter der: the certificate in DER.
    /// - Returns: nil if it can't be read.
    package init?(certificate der: [UInt8]) {
        let certificate = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var next = bytes.baseAddress
            return d2i_X509(nil, &next, bytes.count)
        }
        guard let certificate else {
            ERR_clear_error()
            return nil
        }
        defer { X509_free(certificate) }
        guard let found = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return }
        let names = OpaquePointer(found)
        defer { GENERAL_NAMES_free(names) }
        for index in 0..<OPENSSL_sk_num(names) {
            guard let entry = OPENSSL_sk_value(names, index) else { continue }
            add(entry.assumingMemoryBound(to: GENERAL_NAME.self))
        }
    }

    private mutating func add(_ name: UnsafePointer<GENERAL_NAME>) {
        var kind: CInt = 0
        guard let value = GENERAL_NAME_get0_value(name, &kind), kind == GEN_DNS || kind == GEN_IPADD else { return }
        let text = value.assumingMemoryBound(to: ASN1_STRING.self)
        guard let start = ASN1_STRING_get0_data(text) else { return }
        let bytes = Array(UnsafeBufferPointer(start: start, count: max(0, Int(ASN1_STRING_length(text)))))
        if kind == GEN_DNS { hosts.append(String(decoding: bytes, as: UTF8.self)) } else { addresses.append(bytes) }
    }
}
