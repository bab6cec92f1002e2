import BasicsForTests
import Encodings
import Foundation
import GatewayForTests
import StateSurface
import Testing

/// Who may use a route, and what its upstream is told of them: over requests, streams, sockets and the decision
/// endpoint.
@Suite(.blocking) struct CallerRightsTests {
    /// Events until the gateway ends them; sockets send back what they get.
    static let script: RecordingUpstream.Script = { request, stream in
        guard request.target.hasSuffix("/events") else { return try RecordingUpstream.mirror(request, stream) }
        try stream.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        try stream.send("9\r\ndata: x\n\n\r\n")
        _ = try stream.drain()
        return .close
    }

    static func routes(_ upstream: RecordingUpstream) -> String {
        """
        server: {trusted_proxies: [127.0.0.1]}
        errors: {explain: true}
        routes:
          - {path: /open, upstream: "\(upstream.url)", require: token, websocket: true}
          - {path: /staff, upstream: "\(upstream.url)", require: token, websocket: true, allow: {groups: [staff]}}
          - {path: /own, upstream: "\(upstream.url)", require: token+session, websocket: true, allow: {groups: [staff]}}
          - {path: /secret, upstream: "\(upstream.url)", require: session, allow: {groups: [staff]}, login_url: /in}
          - {path: /fresh, upstream: "\(upstream.url)", require: token, fresh: 5m, acr: [phr], login_url: "/in?a=b"}
          - {path: /recent, upstream: "\(upstream.url)", require: token, fresh: 5m, websocket: true}
          - {path: /strong, upstream: "\(upstream.url)", require: token, acr: [phr], websocket: true}
          - {path: /page, upstream: "\(upstream.url)", require: session, fresh: 5m, login_url: /in}
          - {path: /told, upstream: "\(upstream.url)", require: token, identity: [tenant, groups, assertion]}
          - {path: /plain, upstream: "\(upstream.url)", require: token, identity: [user, email]}
        """
    }

    static func start() async throws -> (GatewayInProcess, RecordingUpstream) {
        let upstream = try RecordingUpstream(script: script)
        return (try await .start(routes(upstream)), upstream)
    }

    // MARK: Who it is

    @Test(
        "An upstream is told e-mail, name and groups of the account, percent-encoded, and the same decoded and signed",
        arguments: [
            ("Ada Lovelace", "Ada Lovelace", ["staff"], "staff"),
            ("Ada L\u{f6}velace", "Ada L%C3%B6velace", ["staff", "a,b"], "staff,a%2Cb"),
            ("100%", "100%25", ["\u{1f600}"], "%F0%9F%98%80"),
        ])
    func profile(name: String, written: String, groups: [String], list: String) async throws {
        let (gateway, upstream) = try await Self.start()
        defer { upstream.stop() }
        defer { gateway.stop() }
        try await gateway.setAccount(.ada) {
            $0.name = name
            $0.groups = groups
        }
        let ada = try gateway.login(.ada)
        // The second request is answered from memory, and the third from the kept fields.
        for _ in 0..<3 {
            upstream.forget()
            let spoofed = ["Email", "Name", "Groups"].map { ("x-gatehouse-\($0.lowercased())", "evil") }
            #expect(try gateway.request("GET", "/open", headers: [ada.bearer] + spoofed).status == 200)
            let seen = try #require(upstream.requests.first)
            #expect(!seen.text.contains("evil"))
            #expect(seen.all("x-gatehouse-email") == [TestUser.ada.email])
            #expect(seen.all("x-gatehouse-name") == [written] && seen.all("x-gatehouse-groups") == [list])
            let signed = claims(of: seen["x-gatehouse-assertion"] ?? "")
            #expect(signed["email"] as? String == TestUser.ada.email && signed["name"] as? String == name)
            #expect(signed["groups"] as? [String] == groups)
        }
        let asked = [("X-Forwarded-Uri", "/open"), ("X-Forwarded-Method", "GET"), ada.bearer]
        let decision = try gateway.request("GET", "/api/auth/verify", headers: asked)
        #expect(decision.status == 200 && decision["x-gatehouse-email"] == TestUser.ada.email)
        #expect(decision["x-gatehouse-name"] == written && decision["x-gatehouse-groups"] == list)
        #expect(claims(of: ada.token)["groups"] as? [String] == groups)
    }

    @Test("What an account no longer says is not sent again, within a second, though the token stays")
    func changedProfile() async throws {
        let (gateway, upstream) = try await Self.start()
        defer { upstream.stop() }
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        for group in ["one", "two"] {
            try await gateway.setAccount(.ada) { $0.groups = [group] }
            let told = try await eventually {
                upstream.forget()
                _ = try gateway.request("GET", "/open", headers: [ada.bearer])
                return upstream.requests.first?["x-gatehouse-groups"] == group
            }
            #expect(told, "\(group)")
        }
        try await gateway.setAccount(.ada) { $0.emailVerified = false }
        let isQuiet = try await eventually {
            upstream.forget()
            _ = try gateway.request("GET", "/open", headers: [ada.bearer])
            let seen = upstream.requests.first
            return seen?["x-gatehouse-email"] == nil && seen?["x-gatehouse-groups"] == "two"
        }
        #expect(isQuiet, "an e-mail that is no longer verified")
    }

    @Test("A route's identity chooses what is sent and signed; without assertion nothing is signed")
    func chosen() async throws {
        let (gateway, upstream) = try await Self.start()
        defer { upstream.stop() }
        defer { gateway.stop() }
        try await gateway.setAccount(.ada) { $0.groups = ["staff"] }
        let ada = try gateway.login(.ada)
        func told(_ path: String) throws -> RecordedRequest {
            upstream.forget()
            #expect(try gateway.request("GET", path, headers: [ada.bearer]).status == 200)
            return try #require(upstream.requests.first)
        }
        for _ in 0..<2 {
            let told = try told("/told")
            #expect(
                told.names.filter { $0.hasPrefix("x-gatehouse-") }.sorted()
                    == ["x-gatehouse-assertion", "x-gatehouse-groups", "x-gatehouse-tenant"])
            let signed = claims(of: told["x-gatehouse-assertion"] ?? "")
            #expect(
                Set(signed.keys) == ["iss", "aud", "iat", "exp", "jti", "client_id", "tenant_id", "groups"])
        }
        let plain = try told("/plain")
        #expect(
            plain.names.filter { $0.hasPrefix("x-gatehouse-") }.sorted()
                == ["x-gatehouse-email", "x-gatehouse-user"])
    }

    // MARK: Who may

    @Test("allow refuses with 403 not_allowed on requests, upgrades, tickets and decisions; a member passes")
    func allowed() async throws {
        let (gateway, upstream) = try await Self.start()
        defer { upstream.stop() }
        defer { gateway.stop() }
        try await gateway.setAccount(.ada) { $0.groups = ["staff"] }
        for (user, status) in [(TestUser.ada, 200), (.bob, 403)] {
            let caller = try gateway.login(user)
            let asked = [("X-Forwarded-Uri", "/staff"), ("X-Forwarded-Method", "GET"), caller.bearer]
            let session = ("Session-Id", caller.sessionID)
            let answers = [
                try gateway.request("GET", "/staff", headers: [caller.bearer]),
                try gateway.request("GET", "/own", headers: [caller.bearer, session]),
                try gateway.request("GET", "/secret", headers: [("Session-Secret", caller.sessionSecret)]),
                try gateway.request("GET", "/api/auth/verify", headers: asked),
            ]
            for answer in answers {
                #expect(answer.status == status && (status == 200 || answer.code == "not_allowed"), "\(answer.text)")
            }
            let ticket = try gateway.ticket(caller)
            for path in ["/staff?access_token=\(caller.token)", "/own?\(caller.query)", "/own?ticket=\(ticket)"] {
                let probe = try gateway.socket(path)
                #expect(probe.isOpen == (status == 200), "\(path): \(probe.answer.status)")
                if status != 200 { #expect(probe.answer.status == 403 && probe.answer.code == "not_allowed") }
            }
        }
        #expect(upstream.requests.allSatisfy { $0["x-gatehouse-groups"] == "staff" }, "the refused reach no upstream")
    }

    @Test("Who leaves a group loses open sockets (4403) and streams within a second; a bystander keeps theirs")
    func leavingAGroup() async throws {
        let (gateway, upstream) = try await Self.start()
        defer { upstream.stop() }
        defer { gateway.stop() }
        for user in [TestUser.ada, .bob] { try await gateway.setAccount(user) { $0.groups = ["staff", "x"] } }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        let closing = try ["/staff?access_token=\(ada.token)", "/own?\(ada.query)"].map { try gateway.opened($0) }
        let staying = try [
            "/open?access_token=\(ada.token)", "/staff?access_token=\(bob.token)", "/own?\(bob.query)",
        ].map { try gateway.opened($0) }
        let stream = try RawSocket(port: gateway.port)
        try stream.send(
            "GET /staff/events HTTP/1.1\r\nHost: h\r\n\(ada.bearer.0): \(ada.bearer.1)\r\n\r\n")
        // The answer has begun.
        #expect(String(decoding: try stream.read(12), as: UTF8.self) == "HTTP/1.1 200")
        // Another change of the account ends nothing.
        try await gateway.setAccount(.ada) { $0.groups = ["staff"] }
        try await gateway.setAccount(.ada) { $0.groups = ["x"] }
        let (took, ends) = try seconds { try closing.map { try $0.closing() } }
        #expect(ends.allSatisfy { $0 == "4403 not_allowed" } && took < .promptly, "\(ends) after \(took) s")
        let (tookStream, rest) = try seconds { try stream.readToEnd() }
        #expect(tookStream < .promptly && !String(decoding: rest, as: UTF8.self).hasSuffix("0\r\n\r\n"), "cut short")
        for probe in staying {
            try probe.send(text: "still here")
            #expect(try probe.next() != nil)
        }
        #expect(try gateway.request("GET", "/staff", headers: [ada.bearer]).code == "not_allowed")
        #expect(try gateway.request("GET", "/staff", headers: [bob.bearer]).status == 200)
    }

    @Test("A sign-in at the provider that brings other groups ends what the groups before had opened, everywhere")
    func otherGroups() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let upstream = try RecordingUpstream(script: Self.script)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            Self.routes(upstream) + "\nlimits: {enabled: false}\n" + provider.yaml(), users: [])
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        _ = try browser.signIn(provider)
        let person = try browser.tokens()
        let socket = try gateway.opened("/staff?access_token=\(person.token)")
        provider.change { $0.claims["groups"] = ["night shift"] }
        var elsewhere = BrowserProbe(gateway)
        #expect(try elsewhere.signIn(provider)["location"] == "/")
        let (took, end) = try seconds { try socket.closing() }
        #expect(end == "4403 not_allowed" && took < .promptly, "\(end ?? "") after \(took) s")
        #expect(try gateway.request("GET", "/staff", headers: [person.bearer]).code == "not_allowed")
    }
}
