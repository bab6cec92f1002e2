import Encodings
import Testing

@testable import IdentityProviders

@Suite("A provider of OAuth 2.0 alone")
struct OAuth2ProviderTests {
    @Test("GitHub's preset signs in by the number of the account and the verified primary address") func github()
        async throws
    {
        #expect(Script.github.faults().isEmpty)
        let world = World(try Script.oauth2())
        guard case .identified(let identity, _) = try await world.signIn() else {
            Issue.record("no user was signed in")
            return
        }
        #expect(identity.subject == "583231" && identity.name == "Ada")
        #expect(identity.email == "ada@example.com" && identity.isEmailVerified)
        #expect(world.requests.map(\.url.text).last == "https://api.github.com/user/emails")
        #expect(
            world.requests.last?.headers.contains { $0 == ("Authorization", "Bearer " + Script.accessToken) } == true)
    }

    private static let lies: [Lie] = [
        Lie("no subject", "provider_unavailable: subject_malformed") { $0.userInfo["id"] = nil },
        Lie("a subject that is a fraction", "provider_unavailable: subject_malformed") { $0.userInfo["id"] = 1.5 },
        Lie("a subject that is true", "provider_unavailable: subject_malformed") { $0.userInfo["id"] = true },
        Lie("a refusal with status 200", "provider_unavailable: client_refused") {
            $0.editTokens = { $0 = ["error": "incorrect_client_credentials"] }
        },
        Lie("an API that answers with a page", "provider_unavailable: content_type_unexpected") {
            $0.userInfoAnswer = { $0.with(contentType: "text/html") }
        },
        Lie("addresses that are no list", "provider_unavailable: malformed") { $0.emails = ["email": "a@example.com"] },
        Lie("another issuer", "provider_unavailable: response_issuer_mismatch") {
            $0.response = { $0 + [FormParameter("iss", "https://evil.example")] }
        },
    ]

    @Test("that lies signs no user in", arguments: lies)
    func lie(lie: Lie) async throws {
        #expect(try await World(try Script.oauth2()).signIn().summary == "identified")
        #expect(try await World(try lie.told(try Script.oauth2())).signIn().summary == lie.expected)
    }

    @Test("is not believed about a profile's address, nor about what only an ID token says") func profile() async throws
    {
        var script = try Script.oauth2()
        script.userInfo["email_verified"] = true
        script.userInfo["acr"] = "phr"
        script.userInfo["auth_time"] = 1_800_000_000
        script.userInfo["sid"] = "s"
        for verified: JSONValue in [false, "true"] {
            script.emails = [["email": "ada@example.com", "primary": true, "verified": verified]]
            guard case .identified(let identity, _) = try await World(script).signIn() else {
                Issue.record("no user was signed in")
                return
            }
            #expect(identity.email == "ada@example.com" && !identity.isEmailVerified)
            #expect(identity.acr == nil && identity.authenticatedAt == nil && identity.providerSession == nil)
        }
        script.emails = []
        guard case .identified(let other, _) = try await World(script).signIn() else {
            Issue.record("no user was signed in")
            return
        }
        #expect(other.email == nil && !other.isEmailVerified)
    }

    @Test("takes no tokens and no logout tokens") func tokens() async throws {
        let provider = World(try Script.oauth2()).provider()
        guard case .failure = await provider.identify(subjectToken: "a.b.c"),
            case .failure = await provider.judge(logoutToken: "a.b.c")
        else {
            Issue.record("a token was taken")
            return
        }
    }
}
