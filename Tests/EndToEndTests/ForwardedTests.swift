import BasicsForTests
import Foundation
import Testing

/// `Forwarded` (RFC 7239) from proxies in front, beside the `X-Forwarded-` fields or instead of them.
@Suite(.blocking) struct ForwardedTests {
    private static func routes(_ upstream: RecordingUpstream) -> String {
        """
        limits: {login_per_minute: 2}
        routes:
          - {path: /open, upstream: \(upstream.url), require: none}
          - {path: /shut, upstream: \(upstream.url), require: token}
          - {path: /host, host: shop.example, require: none}
          - {path: /host, require: token}
        """
    }

    private static func trusting(_ upstream: RecordingUpstream, users: [TestUser] = []) async throws -> GatewayInProcess
    {
        try await .start("server: {trusted_proxies: [127.0.0.1, 10.0.0.0/8]}\n" + routes(upstream), users: users)
    }

    @Test("From a trusted proxy it says who the client is and how it came, and is told on as X-Forwarded")
    func believed() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await Self.trusting(upstream)
        defer { gateway.stop() }
        func seen(_ fields: (String, String)...) throws -> RecordedRequest {
            upstream.forget()
            #expect(try gateway.request("GET", "/open", headers: fields).status == 200)
            return try #require(upstream.requests.last)
        }
        let plain = try seen(
            (
                "Forwarded", "for=203.0.113.7;proto=https;host=\"shop.example:8443\", for=\"10.1.2.3:99\";proto=http"
            ))
        #expect(plain["x-forwarded-for"] == "203.0.113.7, 10.1.2.3, 127.0.0.1" && plain["forwarded"] == nil)
        #expect(plain["x-forwarded-proto"] == "https" && plain["x-forwarded-host"] == "shop.example:8443")
        let six = try seen(("Forwarded", "for=6.6.6.6"), ("Forwarded", "for=\"[2001:db8::17]:1\";proto=https"))
        #expect(six["x-forwarded-for"] == "6.6.6.6, 2001:db8::17, 127.0.0.1" && six["x-forwarded-proto"] == "https")
        #expect(try seen(("Forwarded", "for=unknown;proto=https"))["x-forwarded-for"] == "127.0.0.1")
        let both = try seen(("Forwarded", "for=203.0.113.7;proto=https"), ("X-Forwarded-For", "203.0.113.7"))
        #expect(both["x-forwarded-for"] == "203.0.113.7, 127.0.0.1" && both["x-forwarded-proto"] == "https")
    }

    @Test("From any other peer it does not count, which is logged once")
    func untrusted() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream), users: [])
        defer { gateway.stop() }
        for value in ["for=203.0.113.7;proto=https;host=evil", "garbage,,=", "for=\""] {
            #expect(try gateway.request("GET", "/open", headers: [("Forwarded", value)]).status == 200)
            let seen = try #require(upstream.requests.last)
            #expect(seen["x-forwarded-for"] == "127.0.0.1" && seen["x-forwarded-proto"] == "http")
            #expect(seen["forwarded"] == nil && seen["x-forwarded-host"] == "127.0.0.1:\(gateway.port)")
        }
        #expect(try await eventually { gateway.log.contains("server.trusted_proxies") })
    }

    @Test("A malformed field, or one that contradicts X-Forwarded, is refused: it may be forged")
    func refused() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await Self.trusting(upstream)
        defer { gateway.stop() }
        let long = (0..<1000).map { "for=192.0.2.\($0 % 250)" }.joined(separator: ",")
        for value in ["for=", "for=\"1.2.3.4", "for=nobody", "for=1.1.1.1;for=2.2.2.2", long] {
            let fields = [("Forwarded", value), ("Forwarded", "for=203.0.113.7")]
            expectRefused(
                try gateway.request("GET", "/open", headers: fields), 400, "bad_message", "\(value.prefix(40))")
            expectRefused(try gateway.request("GET", "/api/auth/me", headers: fields), 400, "bad_message")
        }
        let contradictions = [
            ("for=203.0.113.7", ("X-Forwarded-For", "203.0.113.8")), ("proto=https", ("X-Forwarded-Proto", "http")),
            ("host=a.example", ("X-Forwarded-Host", "b.example")),
        ]
        for (value, field) in contradictions {
            let answer = try gateway.request("GET", "/open", headers: [("Forwarded", value), field])
            expectRefused(answer, 400, "invalid_request", value)
        }
        #expect(upstream.requests.isEmpty)
        expectStatus(try gateway.request("GET", "/open", headers: [("Forwarded", "for=203.0.113.7")]), 200)
    }

    @Test("Limits count the client that it names, and cookies go by how that client came")
    func clients() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await Self.trusting(upstream, users: [.ada])
        defer { gateway.stop() }
        let wrong = TestUser(email: TestUser.ada.email, password: "wrong", tenant: "acme")
        func attempt(_ user: TestUser, _ forwarded: String) throws -> RawResponse {
            try gateway.attemptLogin(user, headers: [("Forwarded", forwarded), ("Sec-Fetch-Site", "same-origin")])
        }
        for _ in 0..<2 { #expect(try attempt(wrong, "for=203.0.113.7;proto=https").status == 401) }
        #expect(try attempt(wrong, "for=6.6.6.6, for=203.0.113.7;proto=https").status == 429)
        let secure = try attempt(.ada, "for=203.0.113.8;proto=https")
        #expect(secure.status == 200 && secure.cookies["__Host-gatehouse"]?.contains("Secure") == true)
        let plain = try attempt(.ada, "for=203.0.113.9;proto=http")
        #expect(plain.status == 200 && plain.cookies.isEmpty)
        #expect(try attempt(.ada, "for=_hidden;proto=http").cookies.isEmpty)
    }

    @Test("The decision endpoint goes by the X-fields alone")
    func decision() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await Self.trusting(upstream, users: [.ada])
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let uri = ("X-Forwarded-Uri", "/host")
        for value in ["host=shop.example", "for=1.1.1.1;proto=https;host=shop.example", "garbage,,="] {
            let field = ("Forwarded", value)
            #expect(try gateway.request("GET", "/api/auth/verify", headers: [field, uri]).status == 401, "\(value)")
            #expect(try gateway.request("GET", "/api/auth/verify", headers: [field, uri, ada.bearer]).status == 200)
            let named = [field, uri, ("X-Forwarded-Host", "shop.example")]
            #expect(try gateway.request("GET", "/api/auth/verify", headers: named).status == 200)
            let other = [field, uri, ("X-Forwarded-Host", "other.example")]
            #expect(try gateway.request("GET", "/api/auth/verify", headers: other).status == 401)
        }
    }
}
