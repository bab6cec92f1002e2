import EdgeCore
import Testing

@Suite("Errors of TLS in words")
struct TLSFaultTests {
    @Test("Only what tells something is kept")
    func words() {
        let text = "handshakeFailed(NIOSSL.BoringSSLError.sslError([Error: 268435581 error:1000007d:SSL routines:"
        let untrusted = TLSFault.words(in: text + "OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at /a.cc:1]))")
        #expect(untrusted == "its certificate is not trusted (CERTIFICATE_VERIFY_FAILED)")
        let plain = TLSFault.words(in: text + "OPENSSL_internal:WRONG_VERSION_NUMBER at x")
        #expect(plain == "TLS: WRONG_VERSION_NUMBER")
        #expect(TLSFault.words(in: "uncleanShutdown") == "TLS: uncleanShutdown")
    }
}
