import EdgeConfiguration
import Testing

@testable import gatehouse

@Suite("Keys of a route for its upstreams and limits, and of server.tls") struct UpstreamSettingsTests {
    private static func route(_ keys: String) throws -> RouteConfiguration {
        let yaml = "routes:\n  - path: /a\n    upstream: http://h:1\n    \(keys)\n"
        return try #require(try load(yaml).configuration.routes.first)
    }

    @Test("Every key is read, and what is shown is read as the same")
    func everyKey() throws {
        let yaml = """
            routes:
              - path: /a
                upstream: http://h:1
                health: {path: /up?x=1, interval: 1s, timeout: 500ms, healthy_after: 4, unhealthy_after: 5, status: [204, 200-299]}
                outlier: {failures: 7, eject: 2s, max_eject: 1m}
                slow_start: 30s
                panic: 0.5
                retry: {budget: 0.1, floor: 0}
                max_requests: 100
                max_connections: 50
                limit: {requests: 10, per: 1s, burst: 20, by: address}
            """
        let configuration = try load(yaml).configuration
        let route = try #require(configuration.routes.first)
        var health = RouteConfiguration.Health()
        (health.path, health.interval, health.timeout) = ("/up?x=1", 1_000, 500)
        (health.healthyAfter, health.unhealthyAfter) = (4, 5)
        health.status = [.init(204...204), .init(200...299)]
        #expect(route.health == health)
        #expect(route.outlier?.failures == 7 && route.outlier?.eject == 2_000 && route.outlier?.maxEject == 60_000)
        #expect(route.slowStart == 30_000 && route.panic == 0.5)
        #expect(route.retry?.budget == 0.1 && route.retry?.floor == 0)
        #expect(route.maxRequests == 100 && route.maxConnections == 50)
        #expect(route.limit?.requests == 10 && route.limit?.per == 1_000 && route.limit?.burst == 20)
        #expect(route.limitSubject == .address)
        // But for the value in the query, which may be a secret.
        var shown = configuration
        shown.routes[0].health?.path = "/up?x=redacted"
        #expect(try load(ConfigurationText.yaml(configuration)).configuration == shown)
    }

    @Test("What is left out has its default")
    func defaults() throws {
        let route = try Self.route("health: {}\n    outlier: {}\n    retry: {}\n    limit: {requests: 5}")
        #expect(route.health == .init() && route.outlier == .init() && route.retry == .init())
        #expect(route.limit?.per == 60_000 && route.limit?.burst == nil && route.limitSubject == .user)
        #expect(try Self.route("require: none\n    limit: {requests: 5}").limitSubject == .address)
        #expect(try !Self.route("strip_prefix: true").isSupervised)
    }

    private static let wrong = [
        "health: {interval: 1ms}", "health: {path: up}", "health: {path: '/a b'}", "health: {status: [99]}",
        "health: {status: []}", "health: {status: [300-200]}", "health: {status: ['200-']}",
        "health: {healthy_after: 0}", "health: 1",
        "outlier: {failures: 0}", "outlier: {eject: 2m, max_eject: 1m}", "panic: 2", "retry: {budget: 1.5}",
        "retry: {floor: -1}", "max_requests: 0", "max_connections: 0", "limit: {}", "limit: {requests: 0}",
        "limit: {per: 1s}", "limit: {by: user}",
        "limit: {requests: 1, per: 1ms}", "limit: {requests: 1, by: tenant}", "limit: {request: 1}",
        "require: token\n    limit: {requests: 1, by: session}", "require: none\n    limit: {requests: 1, by: user}",
        "require: session\n    limit: {requests: 1, by: client}", "slow_start: 2h", "client_certificate: maybe",
        "client_certificate: required", "forward_client_certificate: true", "headers: {Client-Cert: ':AA==:'}",
    ]

    @Test("A wrong value is a fault with its place", arguments: wrong)
    func faulty(_ keys: String) {
        let found = faults("routes:\n  - path: /a\n    upstream: http://h:1\n    \(keys)\n")
        #expect(!found.isEmpty && found.allSatisfy { $0.hasPrefix("g.yaml:") }, "\(found)")
    }

    @Test("A route that is only judged has no upstreams to watch")
    func withoutUpstream() {
        #expect(!faults("routes: [{path: /a, max_requests: 1}]").isEmpty)
        #expect(faults("routes: [{path: /a, limit: {requests: 1}}]").isEmpty)
    }

    private static let tls = """
        server:
          tls:
            certificate: a.pem
            key: a.key
            client_ca: ca.pem
            certificates:
              - {hosts: [Shop.Example, '*.wild.example'], certificate: 'b c.pem', key: b.key}
              - {hosts: d.example, certificate: d.pem, key: d.key}
        routes:
          - {path: /, upstream: 'http://h:1', client_certificate: required, forward_client_certificate: true}
        """

    @Test("Certificates by name are read, shown, and kept over a reload that switches TLS off")
    func certificates() throws {
        let configuration = try load(Self.tls).configuration
        let tls = try #require(configuration.server.tls)
        #expect(tls.clientCA == "ca.pem")
        #expect(
            tls.certificates == [
                .init(hosts: ["shop.example", "*.wild.example"], certificate: "b c.pem", key: "b.key"),
                .init(hosts: ["d.example"], certificate: "d.pem", key: "d.key"),
            ])
        #expect(try load(ConfigurationText.yaml(configuration)).configuration == configuration)
        var wanted = configuration
        wanted.server.tls?.certificates = []
        let plan = ReloadPlan(running: configuration, wanted: wanted)
        #expect(plan.needRestart.isEmpty && plan.configuration.server.tls?.certificates == [])
        wanted.server.tls = nil
        let off = ReloadPlan(running: configuration, wanted: wanted)
        #expect(off.configuration.server.tls == tls && off.needRestart.contains("server.tls.certificates"))
    }

    @Test(
        "A wrong entry is a fault",
        arguments: [
            ("hosts: [Shop.Example, '*.wild.example']", "hosts: []"),
            ("hosts: d.example", "hosts: '*.wild.example'"), ("hosts: d.example", "hosts: 'a b'"),
            ("hosts: d.example", "hosts: 192.0.2.1"), ("hosts: d.example", "hosts: '2001:db8::1'"),
            ("hosts: d.example", "hosts: '*'"), ("hosts: d.example", "hosts: 'a.*.example'"),
            ("hosts: d.example", "host: d.example"), ("hosts: d.example, ", ""), (", key: d.key", ""),
            ("certificate: d.pem, ", ""), ("    certificate: a.pem\n    key: a.key\n", ""),
            ("    client_ca: ca.pem\n", ""), ("client_certificate: required, ", ""),
        ])
    func faultyCertificates(_ what: String, _ with: String) {
        #expect(Self.tls.contains(what))
        let found = faults(Self.tls.replacing(what, with: with))
        #expect(!found.isEmpty && found.allSatisfy { $0.hasPrefix("g.yaml") }, "\(found)")
    }

    @Test("A variable can't hold a list of mappings")
    func variable() {
        let found = faults(environment: ["GATEHOUSE_SERVER_TLS_CERTIFICATES": "a,b"])
        #expect(found.contains { $0.contains("SERVER_TLS_CERTIFICATES") && $0.contains("only the file") }, "\(found)")
    }
}
