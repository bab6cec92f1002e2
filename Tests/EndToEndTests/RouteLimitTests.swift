import Foundation
import GatewayForTests
import Testing

/// Limits of requests for each caller of a route.
@Suite(.blocking) struct RouteLimitTests {
    private static func start(_ upstream: RecordingUpstream) async throws -> GatewayInProcess {
        try await GatewayInProcess.start(
            """
            server: {threads: 4, trusted_proxies: [127.0.0.1]}
            errors: {explain: true}
            routes:
              - {path: /user, upstream: "\(upstream.url)", require: token, websocket: true,
                 limit: {requests: 3, per: 10m}}
              - {path: /session, upstream: "\(upstream.url)", require: session,
                 limit: {requests: 1, per: 1h, by: session}}
              - {path: /client, upstream: "\(upstream.url)", require: token, limit: {requests: 2, per: 1h, by: client}}
              - {path: /open, upstream: "\(upstream.url)", require: none, limit: {requests: 2, per: 1h, burst: 1}}
              - {path: /many, upstream: "\(upstream.url)", require: none, limit: {requests: 25, per: 1h}}
            """)
    }

    @Test("A user gets 429 beyond the limit, with the time to wait; others and later requests pass")
    func byUser() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await Self.start(upstream)
        defer { gateway.stop() }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        for left in [2, 1, 0] {
            let answer = try gateway.request("GET", "/user", headers: [ada.bearer])
            #expect(answer.status == 200 && answer["ratelimit-policy"] == "\"gatehouse\";q=3;w=600")
            #expect(answer["ratelimit"]?.hasPrefix("\"gatehouse\";r=\(left);t=") == true)
        }
        let refused = try gateway.request("GET", "/user", headers: [ada.bearer])
        expectRefused(refused, 429, "rate_limited")
        let wait = try #require(refused["retry-after"].flatMap(Int.init))
        #expect((100...200).contains(wait) && refused["ratelimit"] == "\"gatehouse\";r=0;t=\(wait)")
        #expect(refused.json["reason"] as? String == "route_limit")
        expectRefused(try WebSocketProbe(gateway, "/user/ws", headers: [ada.bearer]).answer, 429, "rate_limited")
        #expect(upstream.requests.count == 3)
        #expect(try gateway.request("GET", "/user", headers: [bob.bearer]).status == 200)
        // Credentials come first: a request without them learns nothing of limits and is counted towards none.
        #expect(try gateway.request("GET", "/user").status == 401)
        gateway.clock.advance(by: .seconds(200))
        #expect(try gateway.request("GET", "/user", headers: [ada.bearer]).status == 200)
        expectRefused(try gateway.request("GET", "/user", headers: [ada.bearer]), 429, "rate_limited")
    }

    @Test("The decision endpoint counts towards the same limit, and refuses with 403, which proxies understand")
    func decision() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await Self.start(upstream)
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let asked = [ada.bearer, ("X-Forwarded-Uri", "/user/x"), ("X-Forwarded-Method", "GET")]
        #expect(try gateway.request("GET", "/user", headers: [ada.bearer]).status == 200)
        for _ in 0..<2 {
            let answer = try gateway.request("GET", "/api/auth/verify", headers: asked)
            #expect(answer.status == 200 && answer["ratelimit"] != nil)
        }
        let refused = try gateway.request("GET", "/api/auth/verify", headers: asked)
        expectRefused(refused, 403, "rate_limited")
        #expect(refused["retry-after"] != nil)
        // The endpoint's judgement of credentials alone belongs to no route.
        let alone = try gateway.request("GET", "/api/auth/verify", headers: [ada.bearer])
        #expect(alone.status == 200 && alone["ratelimit"] == nil)
    }

    @Test("Sessions, clients and addresses are counted each for itself")
    func others() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await Self.start(upstream)
        defer { gateway.stop() }
        for _ in 0..<2 {
            let made = try gateway.request("POST", "/api/session/create-anonymous")
            let secret = ("Session-Secret", made.json["session_secret"] as? String ?? "")
            #expect(try gateway.request("GET", "/session", headers: [secret]).status == 200)
            expectRefused(try gateway.request("GET", "/session", headers: [secret]), 429, "rate_limited")
        }
        // Both logged in here, so both tokens are of the same client.
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        #expect(try gateway.request("GET", "/client", headers: [ada.bearer]).status == 200)
        #expect(try gateway.request("GET", "/client", headers: [bob.bearer]).status == 200)
        expectRefused(try gateway.request("GET", "/client", headers: [ada.bearer]), 429, "rate_limited")
        // Addresses of one network of IPv6 are one client; credentials make no other of it.
        for (address, status) in [
            ("192.0.2.1", 200), ("192.0.2.1", 429), ("192.0.2.2", 200), ("2001:db8::1", 200), ("2001:db8::2", 429),
        ] {
            let answer = try gateway.request("GET", "/open", headers: [("X-Forwarded-For", address), ada.bearer])
            expectStatus(answer, status, address)
        }
    }

    @Test("The limit is exact over all event loops, and goes on over a reload that keeps it")
    func exact() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await Self.start(upstream)
        defer { gateway.stop() }
        let statuses = try await together(
            (0..<40).map { _ in { @Sendable in try gateway.request("GET", "/many").status } })
        #expect(statuses.count { $0 == 200 } == 25 && statuses.count { $0 == 429 } == 15)
        func yaml(_ requests: Int) -> String {
            """
            routes:
              - {path: /new, require: none}
              - {path: /many, upstream: "\(upstream.url)", require: none, limit: {requests: \(requests), per: 1h}}
            """
        }
        try await gateway.change(to: yaml(25))
        #expect(try gateway.request("GET", "/many").status == 429)
        try await gateway.change(to: yaml(26))
        #expect(try gateway.request("GET", "/many").status == 200)
    }
}
