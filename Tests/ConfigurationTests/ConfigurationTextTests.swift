import EdgeConfiguration
import Foundation
import Testing

@testable import gatehouse

@Suite("Showing the configuration")
struct ConfigurationTextTests {
    @Test("What is shown can be read again, and means the same")
    func roundTrips() throws {
        let yaml = """
            server: {listen: '[::1]:0', admin: off, tls: {certificate: 'a b.pem', key: "k\\"ey.pem"}, max_body: 1MiB}
            tokens: {issuer: 'https://auth.example', audience: ['a: b', '- c', 'true', ''' d']}
            routes: [{path: /a, upstream: 'http://a:1', scopes: [x:y], methods: [GET]}, {path: /b, require: none}]
            issuers: [{issuer: 'https://i', jwks: j.json, audience: [a], tenants: [t]}]
            """
        let first = try load(yaml).configuration
        #expect(try load(ConfigurationText.yaml(first)).configuration == first)
        #expect(try load(ConfigurationText.yaml(.init())).configuration == .init())
        let unix = try load("server: {listen: 'unix:/run/gate.sock', socket_mode: 0600, trusted_proxies: [unix]}")
        #expect(
            unix.configuration.server.listen.path == "/run/gate.sock" && unix.configuration.server.socketMode == 0o600)
        #expect(try load(ConfigurationText.yaml(unix.configuration)).configuration == unix.configuration)
    }

    @Test("No secret is shown")
    func redacts() throws {
        let yaml = """
            state: {url: 'postgres://u:hunter2@h/d?password=hunter2'}
            routes: [{path: /a, headers: {X-Api-Key: hunter2}}]
            """
        let shown = ConfigurationText.yaml(try load(yaml).configuration)
        #expect(!shown.contains("hunter2"))
        #expect(shown.contains("postgres://u:redacted@h/d"))
    }
}
