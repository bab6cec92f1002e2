import BasicsForTests
import JOSE
import OAuth
import StateSurface
import StateSurfaceTesting
import Testing

@testable import SecurityGuard

@Suite("Clients")
struct ClientsTests {
    let fixture: Fixture
    init() async throws { fixture = try await Fixture() }

    func client(
        _ tenant: String = "acme", scope: [String] = ["read", "write"]
    ) async throws -> (client: ClientRecord, secret: String) {
        try await fixture.subject.clients.add(name: "billing", tenantID: tenant, scope: scope)
    }

    @Test("A client is known by its own secret alone")
    func authentication() async throws {
        let (client, secret) = try await client()
        let (other, otherSecret) = try await self.client()
        #expect(client.clientID.hasPrefix("cli_") && secret.hasPrefix("cls_"))
        let subject = fixture.subject
        #expect(try await subject.authenticateClient(id: client.clientID, secret: secret)?.clientID == client.clientID)
        #expect(try await subject.authenticateClient(id: client.clientID, secret: otherSecret) == nil)
        #expect(try await subject.authenticateClient(id: other.clientID, secret: secret) == nil)
        #expect(try await subject.authenticateClient(id: "cli_unknown", secret: secret) == nil)
        #expect(try await subject.authenticateClient(id: "usr_x", secret: secret) == nil)
        #expect(try await subject.authenticateClient(id: client.clientID, secret: "") == nil)
        #expect(fixture.reasons(.clientRefused).count == 5)
        #expect(!fixture.events.all.contains { String(describing: $0).contains(secret) })
    }

    @Test("A client's token speaks for the client, with no more scope than it has")
    func clientCredentials() async throws {
        let (client, _) = try await client()
        let token = try await fixture.subject.clientCredentials(client)
        let principal = try fixture.judge(token.accessToken).get()
        #expect(principal.subject == client.clientID && principal.clientID == client.clientID)
        #expect(!principal.isUser)
        #expect(principal.tenantID == "acme")
        #expect(principal.scope == ["read", "write"])
        #expect(try await fixture.subject.clientCredentials(client, scope: "read").principal.scope == ["read"])
        for scope in ["admin", "read admin", "read  write", " read"] {
            await #expect(throws: OAuthFault(.invalidScope, "")) {
                try await fixture.subject.clientCredentials(client, scope: scope)
            }
        }
    }

    @Test("Introspection tells a client about its own tenant's tokens, and of others nothing but inactive")
    func introspection() async throws {
        let (client, _) = try await client()
        let (foreign, _) = try await self.client("umbrella")
        let tokens = try await fixture.login()
        let answer = try await fixture.subject.introspect(token: tokens.accessToken, by: client)
        #expect(answer["active"] == .bool(true))
        #expect(answer["sub"]?.stringValue == tokens.principal.subject)
        #expect(answer["exp"]?.int64Value == tokens.principal.expiresAt / 1000)
        let refresh = try #require(tokens.refreshToken)
        #expect(try await fixture.subject.introspect(token: refresh, by: client)["active"] == .bool(true))
        let inactive: JSONObject = ["active": false]
        #expect(try await fixture.subject.introspect(token: tokens.accessToken, by: foreign) == inactive)
        #expect(try await fixture.subject.introspect(token: refresh, by: foreign) == inactive)
        for text in ["", "x", "ref_x", "a.b.c"] {
            #expect(try await fixture.subject.introspect(token: text, by: client) == inactive)
        }
        _ = try await fixture.subject.endFamily(tokens.familyID)
        #expect(try await fixture.subject.introspect(token: tokens.accessToken, by: client) == inactive)
        #expect(try await fixture.subject.introspect(token: refresh, by: client) == inactive)
    }

    @Test("Revocation ends what the client may end, and is silent about the rest")
    func revocation() async throws {
        let (client, _) = try await client()
        let (other, _) = try await self.client()
        let (foreign, _) = try await self.client("umbrella")
        let own = try await fixture.subject.clientCredentials(client).accessToken
        let tokens = try await fixture.login()
        let refresh = try #require(tokens.refreshToken)
        for stranger in [other, foreign] { try await fixture.subject.revoke(presented: own, by: stranger) }
        try await fixture.subject.revoke(presented: refresh, by: foreign)
        try await fixture.subject.revoke(presented: "nonsense", by: client)
        #expect(fixture.judge(own).isGood && fixture.judge(tokens.accessToken).isGood)
        try await fixture.subject.revoke(presented: own, by: client)
        #expect(fixture.judge(own).fault?.reason == "revoked")
        try await fixture.subject.revoke(presented: refresh, by: client)
        #expect(fixture.judge(tokens.accessToken).fault?.reason == "revoked")
    }

    @Test("A store that is down makes no false revocation")
    func revocationOutage() async throws {
        let (client, _) = try await client()
        let own = try await fixture.subject.clientCredentials(client).accessToken
        fixture.state.set(reachable: false)
        await #expect(throws: StateSurfaceError.self) { try await fixture.subject.revoke(presented: own, by: client) }
    }
}
