import Encodings
import JOSE
import Testing

@testable import IdentityProviders

@Suite("The configuration of a provider")
struct ProviderConfigurationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let key: String
        let edit: @Sendable (inout ProviderConfiguration) -> Void

        init(_ key: String, _ edit: @escaping @Sendable (inout ProviderConfiguration) -> Void) {
            self.key = key
            self.edit = edit
        }

        var testDescription: String { key }
    }

    private static let faults: [Case] = [
        Case("name") { $0.name = "" },
        Case("name") { $0.name = "Acme" },
        Case("name") { $0.name = "a/b" },
        Case("name") { $0.name = String(repeating: "a", count: 33) },
        Case("display_name") { $0.displayName = "a\nb" },
        Case("client_id") { $0.clientID = "" },
        Case("issuer") { $0.issuer = "idp.example" },
        Case("issuer") { $0.issuer = "http://idp.example" },
        Case("issuer") { $0.issuer = "https://idp.example?x" },
        Case("issuer") { $0.issuer = "https://me@idp.example" },
        Case("authorization_endpoint") { $0.authorizationEndpoint = "https://idp.example/a" },
        Case("scopes") { $0.scopes = ["email"] },
        Case("scopes") { $0.scopes = ["openid", "a b"] },
        Case("tenant") { $0.tenancy = .fixed("a b") },
        Case("tenant_claim") { $0.tenancy = .claim("", values: ["a"]) },
        Case("tenants") { $0.tenancy = .claim("tid", values: []) },
        Case("tenants") { $0.tenancy = .claim("tid", values: ["a/b"]) },
        Case("claims.email") { $0.claims.email = "" },
        Case("subject_claim") { $0.subjectClaim = "email" },
        Case("allowed.email_domains") { $0.allowed.emailDomains = ["@example.com"] },
        Case("allowed.claims") { $0.allowed.claims = [("level", [])] },
        Case("token_endpoint") {
            ProviderPreset.github.apply(to: &$0)
            $0.tokenEndpoint = nil
        },
        Case("userinfo_endpoint") {
            ProviderPreset.github.apply(to: &$0)
            $0.userInfoEndpoint = "http://api.github.com/user"
        },
        Case("accept_tokens") {
            ProviderPreset.github.apply(to: &$0)
            $0.acceptsTokens = true
        },
    ]

    @Test("with one fault names its key", arguments: faults)
    func fault(fault: Case) {
        var provider = Script.openID
        #expect(provider.faults().isEmpty)
        fault.edit(&provider)
        #expect(provider.faults().map(\.key) == [fault.key])
    }

    @Test("may be on loopback over http, and then needs no permission for loopback") func loopback() throws {
        var provider = Script.openID
        #expect(!provider.addresses.allowsLoopback && !provider.addresses.allowsPrivate)
        provider.issuer = "http://127.0.0.1:4000"
        #expect(provider.faults().isEmpty && provider.addresses.allowsLoopback && !provider.addresses.allowsPrivate)
        let answer = ProviderAnswer.json([
            "issuer": "http://127.0.0.1:4000", "authorization_endpoint": "http://localhost:4000/a",
            "token_endpoint": "http://[::1]:4000/t", "jwks_uri": "https://keys.example/jwks",
        ])
        #expect(try ProviderMetadata(answer, issuer: "http://127.0.0.1:4000").algorithms == [.rs256])
        #expect(try ProviderMetadata.keySetURL(answer, issuer: "http://127.0.0.1:4000").host == "keys.example")
        #expect(throws: ProviderFault(.issuerMismatch, "")) {
            try ProviderMetadata.keySetURL(answer, issuer: "http://localhost:4000")
        }
    }

    @Test("has a secret exactly where the method needs one") func methods() throws {
        let secret = try #require(ClientSecret("s"))
        for method in ClientAuthentication.Method.allCases {
            let needsSecret = method == .secretBasic || method == .secretPost
            #expect((ClientAuthentication(method, secret: secret) != nil) == needsSecret)
            #expect((ClientAuthentication(method, secret: nil) != nil) == !needsSecret)
            #expect(ClientAuthentication(method, secret: needsSecret ? secret : nil)?.method == method)
        }
    }
}
