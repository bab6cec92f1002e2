import Encodings
import JOSE
import Testing

@testable import IdentityProviders

/// A provider that lies in one way at a time: no user is signed in, and the reason is the right one.
@Suite("A provider that lies in one way")
struct LyingProviderTests {
    @Test("An honest provider signs a person in and brings them back")
    func honest() async throws {
        let world = World(try Script())
        guard case .identified(let identity, let pending) = try await world.signIn() else {
            Issue.record("no user was signed in")
            return
        }
        #expect(pending.returnTo.text == "/cart?step=2")
        #expect(identity.issuer == "https://idp.example" && identity.subject == "person-1")
        #expect(identity.email == "ada@example.com" && identity.isEmailVerified && identity.name == "Ada")
        #expect(identity.groups == ["staff", "admins"] && !identity.leftGroupsOut && identity.scopes.isEmpty)
        #expect(identity.tenant == "default" && identity.acr == "phr" && identity.amr == ["hwk", "pin"])
        #expect(identity.authenticatedAt == 1_799_999_990_000 && identity.providerSession == "idp-session-1")
        #expect(world.requests.map(\.url.host) == ["idp.example", "idp.example", "keys.example"])
    }

    @Test("in its discovery document is unavailable before a user is sent to it", arguments: discoveryLies)
    func discovery(lie: Lie) async throws {
        let world = World(try lie.told(try Script()))
        do {
            _ = try await world.provider().begin(session: session, returnTo: .root)
            Issue.record("the browser was redirected")
        } catch let fault as ProviderFault {
            #expect(fault.reason.rawValue == lie.expected)
        }
    }

    @Test("in its authorization response signs no user in", arguments: responseLies)
    func response(lie: Lie) async throws {
        let world = World(try lie.told(try Script()))
        #expect(try await world.signIn().summary == lie.expected)
        #expect(world.requests(to: "https://idp.example/token") == 0, "a code was sent to it")
    }

    @Test("in its token response signs no user in", arguments: tokenLies)
    func tokens(lie: Lie) async throws {
        #expect(try await World(try lie.told(try Script())).signIn().summary == lie.expected)
    }

    @Test("in its ID token signs no user in", arguments: idTokenLies)
    func idToken(lie: Lie) async throws {
        let summary = try await World(try lie.told(try Script())).signIn().summary
        #expect(summary == lie.expected)
    }

    @Test("in its key set signs no user in", arguments: keySetLies)
    func keySet(lie: Lie) async throws {
        #expect(try await World(try lie.told(try Script())).signIn().summary == lie.expected)
    }

    @Test("in its userinfo signs no user in", arguments: userInfoLies)
    func userInfo(lie: Lie) async throws {
        var script = try Script()
        script.configuration.asksUserInfo = true
        #expect(try await World(script).signIn().summary == "identified")
        #expect(try await World(try lie.told(script)).signIn().summary == lie.expected)
    }

    @Test("within what the standards allow signs people in", arguments: truths)
    func truth(lie: Lie) async throws {
        #expect(try await World(try lie.told(try Script())).signIn().summary == lie.expected)
    }
}
