import BasicsForTests
import Foundation
import GatewayForTests
import Testing

/// What `/metrics` shows of real traffic.
@Suite(.blocking) struct MetricsTests {
    private static func start(_ yaml: String) async throws -> (gateway: GatewayInProcess, admin: Int) {
        let gateway = try await GatewayInProcess.start(
            yaml, environment: ["GATEHOUSE_SERVER_ADMIN": "127.0.0.1:0"])
        return (gateway, try #require(gateway.adminPort))
    }

    /// The samples by their names with labels.
    private static func samples(_ admin: Int) throws -> [String: Double] {
        let socket = try RawSocket(port: admin)
        try socket.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let lines = try socket.response().text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        let pairs = lines.compactMap { line -> (String, Double)? in
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                return nil
            }
            return (String(line[..<space]), value)
        }
        return Dictionary(pairs) { first, _ in first }
    }

    @Test("Requests, refusals, logins, tokens, sockets and the store are counted, by labels of the configuration")
    func traffic() async throws {
        let upstream = try RecordingUpstream()
        let (gateway, admin) = try await Self.start(
            "routes:\n  - {path: /orders, upstream: '\(upstream.url)', require: token}\n")
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        _ = try gateway.request(
            "POST", "/api/auth/login", json: ["email": TestUser.ada.email, "password": "wrong horse"])
        for _ in 0..<3 { _ = try gateway.request("GET", "/orders/\(UUID())", headers: [ada.bearer]) }
        _ = try gateway.request("GET", "/orders/x", headers: [("Authorization", "Bearer \(ada.forged)")])
        _ = try gateway.request("GET", "/\(UUID())")
        let agent = try AgentProbe(gateway, ada)
        let seen = try Self.samples(admin)
        let place = "127.0.0.1:\(upstream.port)"
        for (name, value) in [
            (#"gatehouse_requests_total{route="/orders",status="200"}"#, 3.0),
            (#"gatehouse_requests_total{route="/orders",status="401"}"#, 1),
            (#"gatehouse_requests_total{route="none",status="404"}"#, 1),
            (#"gatehouse_requests_total{route="api",status="101"}"#, 1),
            (#"gatehouse_request_duration_seconds_count{route="/orders"}"#, 4),
            (#"gatehouse_upstream_duration_seconds_count{route="/orders"}"#, 3),
            (#"gatehouse_refusals_total{code="invalid_token",reason="signature_invalid"}"#, 1),
            (#"gatehouse_refusals_total{code="not_found",reason="none"}"#, 1),
            (#"gatehouse_logins_total{method="password",result="succeeded"}"#, 1),
            (#"gatehouse_logins_total{method="password",result="password_wrong"}"#, 1),
            (#"gatehouse_token_verifications_total{result="accepted"}"#, 1),
            (#"gatehouse_token_verifications_total{result="signature_invalid"}"#, 1),
            ("gatehouse_sockets", 1), ("gatehouse_leases", 1), ("gatehouse_login_queue", 0),
            (#"gatehouse_upstream_up{route="/orders",upstream="\#(place)"}"#, 1),
            (#"gatehouse_build_info{version="library"}"#, 1),
        ] { #expect(seen[name] == value, "\(name) \(seen[name] ?? -1)") }
        #expect((seen["gatehouse_token_cache_hits_total"] ?? 0) >= 2)
        // On a machine that stands still it grows as well.
        #expect(try await eventually { try (Self.samples(admin)["gatehouse_feed_age_seconds"] ?? 99) < 5 })
        #expect(seen.keys.contains { $0.hasPrefix("gatehouse_store_duration_seconds_count{operation=") })
        for name in [
            "process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds", "process_max_fds",
            "process_start_time_seconds",
        ] { #expect((seen[name] ?? 0) > 0, "\(name)") }

        _ = try gateway.request("POST", "/api/auth/logout", headers: [ada.bearer])
        _ = try agent.next()
        let after = try Self.samples(admin)
        #expect(after[#"gatehouse_lease_ends_total{reason="session_ended"}"#] == 1)
        #expect(try await eventually { try Self.samples(admin)["gatehouse_sockets"] == 0 })
    }

    @Test("An upstream is shown as down within five seconds of the first failed connection, and as up when it is back")
    func upstreamUp() async throws {
        let port = try SocketAddressing.unusedPort()
        let (gateway, admin) = try await Self.start(
            "routes:\n  - {path: /o, upstream: 'http://127.0.0.1:\(port)', require: none}\n")
        defer { gateway.stop() }
        let name = #"gatehouse_upstream_up{route="/o",upstream="127.0.0.1:\#(port)"}"#
        #expect(try gateway.request("GET", "/o").status == 502)
        #expect(try await eventually { try Self.samples(admin)[name] == 0 })
        let upstream = try RecordingUpstream(port: port)
        #expect(try await eventually { try gateway.request("GET", "/o").status == 200 })
        #expect(try Self.samples(admin)[name] == 1 && !upstream.requests.isEmpty)
    }

    @Test("An upstream whose route was taken away has no value, and is up again when the route is given back")
    func givenBack() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let yaml = "routes:\n  - {path: /o, upstream: '\(upstream.url)', require: none}\n"
        let (gateway, admin) = try await Self.start(yaml)
        defer { gateway.stop() }
        let name = #"gatehouse_upstream_up{route="/o",upstream="127.0.0.1:\#(upstream.port)"}"#
        #expect(try Self.samples(admin)[name] == 1)
        try await gateway.change(to: "routes: []")
        #expect(try Self.samples(admin)[name]?.isNaN != false)
        try await gateway.change(to: yaml)
        #expect(try Self.samples(admin)[name] == 1)
    }

    @Test("Metrics for which there is no room are counted, and the log warns of them once")
    func refused() async throws {
        let gateway = try await GatewayInProcess.start(
            users: [], environment: ["GATEHOUSE_SERVER_ADMIN": "127.0.0.1:0"],
            passwordCost: GatewayForTests.passwordCost, seriesLimit: 8)
        defer { gateway.stop() }
        let admin = try #require(gateway.adminPort)
        #expect(try await eventually { try Self.samples(admin)["gatehouse_metrics_refused_total"] ?? 0 > 0 })
        let warnings = { gateway.log.components(separatedBy: "no room for more series").count - 1 }
        #expect(try await eventually { warnings() == 1 })
        _ = try Self.samples(admin)
        #expect(warnings() == 1)
    }

    @Test("Paths, methods, hosts and users of clients make no series")
    func hostileLabels() async throws {
        let (gateway, admin) = try await Self.start("limits:\n  enabled: false\n")
        defer { gateway.stop() }
        let ask = {
            let word = "\(UUID())".replacing("-", with: "")
            _ = try gateway.request("GET", "/\(word)?\(word)=\(word)", headers: [("X-\(word)", word)])
            _ = try gateway.raw("\(word.uppercased()) /warm HTTP/1.1\r\nHost: \(word).example\r\n\r\n")
            _ = try gateway.request(
                "POST", "/api/auth/login", json: ["email": "\(word)@example.com", "password": word])
        }
        // What the store does by itself is counted under names of its own.
        let series = { try Self.samples(admin).keys.filter { !$0.contains("store_duration") }.count }
        try ask()
        let before = try series()
        for _ in 0..<20 { try ask() }
        #expect(try series() == before)
    }
}
