import EdgeConfiguration
import Testing

@testable import gatehouse

/// The keys of routes and issuers that say whose requests pass.
@Suite("Who may pass, in the configuration") struct CallerTermsReaderTests {
    private static let route = """
        routes:
          - path: /a
            require: token
            allow:
              groups: [staff, "a,b"]
              email_domains: [Example.COM]
              users: [usr_AAAAAAAAAAAAAAAAAAAAAA]
              scopes_any: [x]
              clients: [gatehouse]
              tenants: [acme]
            fresh: 5m
            acr: [phr, "urn:mace:incommon:iap:silver"]
            identity: [user, groups]
        """

    @Test("Every key of a route is read, shown, and read again")
    func reads() throws {
        let configuration = try load(Self.route).configuration
        let route = try #require(configuration.routes.first)
        #expect(route.allow.groups == ["staff", "a,b"] && route.allow.emailDomains == ["example.com"])
        #expect(route.allow.users == ["usr_AAAAAAAAAAAAAAAAAAAAAA"] && route.allow.scopesAny == ["x"])
        #expect(route.allow.clients == ["gatehouse"] && route.allow.tenants == ["acme"])
        #expect(route.fresh == 300_000 && route.acr == ["phr", "urn:mace:incommon:iap:silver"])
        #expect(route.identity == [.user, .groups])
        #expect(try load(ConfigurationText.yaml(configuration)).configuration == configuration)
    }

    @Test("By default everybody passes and everything is told")
    func defaults() throws {
        let route = try #require(try load("routes: [{path: /a}]").configuration.routes.first)
        #expect(route.allow == .init() && route.fresh == nil && route.acr.isEmpty)
        #expect(route.identity == RouteConfiguration.Identity.allCases)
        #expect(try load("tokens: {claims: [name]}").configuration.tokens.claims == [.name])
        #expect(try load("tokens: {claims: []}").configuration.tokens.claims.isEmpty)
    }

    @Test(
        "A list that would let every caller in, or none, is refused with its line",
        arguments: [
            "allow: {}", "allow:", "allow: {groups: []}", "allow: [staff]", "allow: {group: [a]}",
            "allow: {groups: ['']}",
            "allow: {email_domains: ['@example.com']}", "allow: {email_domains: ['*.example.com']}",
            "allow: {users: [ada@example.com]}", "allow: {users: [cli_AAAAAAAAAAAAAAAAAAAAAA]}", "fresh: 0s",
            "fresh: soon", "acr: ['a b']", "identity: [e-mail]", "allow: {groups: [a]}, require: none",
            "fresh: 5m, require: none", "acr: [a], require: none", "allow: {scopes_any: [a]}, require: session",
            "allow: {clients: [a]}, require: session",
        ])
    func refuses(keys: String) {
        let require = keys.contains("require") ? "" : ", require: token"
        let found = faults("routes:\n  - {path: /a, \(keys)\(require)}\n")
        #expect(!found.isEmpty && found.allSatisfy { $0.hasPrefix("g.yaml:2:") }, "\(found)")
    }

    @Test("Groups are enough for a session, whose owner has some")
    func session() throws {
        _ = try load("routes: [{path: /a, require: session, allow: {groups: [a], tenants: [b]}}]")
    }

    @Test("An issuer's keys are named or found, and at the gate it has one tenant")
    func issuers() throws {
        let found = "issuer: 'https://i.example', audience: a"
        let good = try load("issuers: [{\(found), discovery: true, at_gate: true, tenants: [t], allow_private: true}]")
        let issuer = try #require(good.configuration.issuers.first)
        #expect(issuer.jwks == nil && issuer.discovery && issuer.atGate && issuer.allowPrivate)
        #expect(try load(ConfigurationText.yaml(good.configuration)).configuration == good.configuration)
        let wrong = [
            found, "\(found), jwks: k.json, discovery: true", "\(found), jwks: k.json, at_gate: true",
            "\(found), jwks: k.json, at_gate: true, tenants: [a, b]",
        ]
        for keys in wrong { #expect(faults("issuers:\n  - {\(keys)}\n").count == 1, "\(keys)") }
        let own =
            "tokens: {issuer: 'https://i.example'}\nissuers: [{\(found), jwks: k.json, at_gate: true, tenants: [t]}]\n"
        #expect(faults(own).count == 1)
    }
}
