import EdgeConfiguration
import Passkeys
import Testing

@testable import Experience

@Suite("The relying party of passkeys")
struct RelyingPartyTests {
    @Test("is the issuer's host, and the pages of its origin may use them")
    func host() {
        let party = RelyingParty(issuer: "https://auth.example:8443", allowedOrigins: [])
        #expect(party?.id == "auth.example" && party?.origins == ["https://auth.example:8443"])
        #expect(party?.requiresUserVerification == true)
    }

    @Test(
        "takes allowed origins on the same host or below it, and no others",
        arguments: [
            ("https://auth.example", true), ("https://auth.example:444", true), ("https://app.auth.example", true),
            ("https://example", false), ("https://evilauth.example", false),
            ("https://auth.example.evil.example", false), ("https://app.example", false),
            ("https://user@auth.example", false),
        ])
    func origins(origin: String, isTaken: Bool) {
        let party = RelyingParty(issuer: "https://auth.example:8443", allowedOrigins: [origin])
        #expect(party?.origins.contains(origin) == isTaken)
    }

    @Test(
        "is the domain of the configuration, where the issuer's pages may use it",
        arguments: [
            ("auth.example.org", true), ("example.org", true), ("org", false), ("uth.example.org", false),
            ("other.example.org", false), ("a.auth.example.org", false), ("localhost", false), (".example.org", false),
            ("", false), ("example.org.", false),
        ])
    func domain(id: String, isTaken: Bool) {
        let app = "https://app.example.org"
        let party = RelyingParty(issuer: "https://auth.example.org:8443", id: id, allowedOrigins: [app])
        #expect((party != nil) == isTaken && party?.id == (isTaken ? id : nil))
        #expect(party.map { $0.origins.contains(app) == (id == "example.org") } ?? true)
        #expect(PasskeysConfiguration.mayUse(id, issuer: "https://auth.example.org:8443") == isTaken)
        #expect(RelyingParty(issuer: "https://192.0.2.1", id: "2.1", allowedOrigins: []) == nil)
        #expect(!PasskeysConfiguration.mayUse("2.1", issuer: "https://192.0.2.1"))
        #expect(RelyingParty(issuer: "http://127.0.0.1:1", id: id, allowedOrigins: []) == nil || id == "localhost")
    }

    @Test(
        "of a loopback address is localhost",
        arguments: ["http://127.0.0.1:8080", "http://[::1]:8080", "http://localhost:8080"])
    func loopback(issuer: String) {
        let party = RelyingParty(issuer: issuer, allowedOrigins: [])
        #expect(party?.id == "localhost" && party?.origins.contains("http://localhost:8080") == true)
    }

    @Test("is none for another address", arguments: ["https://192.0.2.1", "https://[2001:db8::1]:8443", "no URL"])
    func none(issuer: String) {
        #expect(RelyingParty(issuer: issuer, allowedOrigins: []) == nil)
    }
}
