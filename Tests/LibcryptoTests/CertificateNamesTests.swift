import Foundation
import Libcrypto
import Testing

/// What the subjectAltName of a certificate names.
@Suite struct CertificateNamesTests {
    private static let named = """
        MIIBvTCCAWOgAwIBAgIUa7Uzse/zkH0XpwL1GPy7rZPLWjkwCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBdDAeFw0yNjExMjQxOTQ2
        MzlaFw0zNjExMjExOTQ2MzlaMAwxCjAIBgNVBAMMAXQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATJAZGi0A8JSvELN9L5V5Dk
        FrU3JAF7MYPNOXgen7tE3YVHO0SAZlxcptwTxr9QgdaAZSckHY3dos/ZzbR6I5Ywo4GiMIGfMB0GA1UdDgQWBBRMvjhFOkoojXho
        KP8I/dFixlmFyDAfBgNVHSMEGDAWgBRMvjhFOkoojXhoKP8I/dFixlmFyDAPBgNVHRMBAf8EBTADAQH/MEwGA1UdEQRFMEOCDGdh
        dGUuZXhhbXBsZYIOKi5zaG9wLmV4YW1wbGWHBMAAAgGHECABDbgAAAAAAAAAAAAAAAGBC2FAYi5leGFtcGxlMAoGCCqGSM49BAMC
        A0gAMEUCIQDvv5b+WE7uUSdJ+mCPQEL6iA4CFNcUgy4uOO5vWrjWfAIgGDdfWVAcM3RQPu9VWBirkUoNQzv43J8EUhBn+f5S2yU=
        """
    private static let nameless = """
        MIIBbTCCAROgAwIBAgIUT8wRhhymK3oxigT/rstczDyNDSgwCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBdDAeFw0yNjExMjQxOTQ2
        MzlaFw0zNjExMjExOTQ2MzlaMAwxCjAIBgNVBAMMAXQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATJAZGi0A8JSvELN9L5V5Dk
        FrU3JAF7MYPNOXgen7tE3YVHO0SAZlxcptwTxr9QgdaAZSckHY3dos/ZzbR6I5Ywo1MwUTAdBgNVHQ4EFgQUTL44RTpKKI14aCj/
        CP3RYsZZhcgwHwYDVR0jBBgwFoAUTL44RTpKKI14aCj/CP3RYsZZhcgwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBF
        AiBJbOtp4QAWldFI+gogTGoKVj4PL6I/0+xlOhNHgbJ3RAIhAPxLQti7BipQSbGYUrCJ/MauJaYeC3c8bgKK79p74IX4
        """

    private static func bytes(_ text: String) throws -> [UInt8] {
        try #require(Data(base64Encoded: text, options: .ignoreUnknownCharacters)).map { $0 }
    }

    @Test("Hosts and addresses are read, and nothing else")
    func names() throws {
        let names = try #require(CertificateNames(certificate: Self.bytes(Self.named)))
        #expect(names.hosts == ["gate.example", "*.shop.example"])
        let longer: [UInt8] = [0x20, 0x01, 0x0d, 0xb8] + Array(repeating: 0, count: 11) + [1]
        #expect(names.addresses == [[192, 0, 2, 1], longer])
    }

    @Test("A certificate without the extension names nothing; what is none can't be read")
    func nothing() throws {
        let names = try #require(CertificateNames(certificate: Self.bytes(Self.nameless)))
        #expect(names.hosts.isEmpty && names.addresses.isEmpty)
        let whole = try Self.bytes(Self.named)
        for length in [0, 1, 40, whole.count - 1] {
            #expect(CertificateNames(certificate: Array(whole.prefix(length))) == nil)
        }
    }
}
