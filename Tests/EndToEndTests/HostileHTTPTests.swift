import Foundation
import Testing

/// Malformed and ambiguous HTTP: refused, the connection closed, and nothing of it seen by the upstream.
@Suite(.blocking) struct HostileHTTPTests {
    private static let chunked = "Transfer-Encoding: chunked\r\n"

    /// Heads that are refused before anything is forwarded.
    private static let heads: [(name: String, bytes: String, statuses: [Int])] =
        framing.map { ("framing \($0)", "POST /x HTTP/1.1\r\nHost: h\r\n\($0)\r\n\r\nhello", [400]) }
        + codings.map {
            ("coding \($0)", "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \($0)\r\n\r\n0\r\n\r\n", [400, 501])
        }
        + fields.map { ("field \($0.debugDescription)", "GET /x HTTP/1.1\r\n\($0)\r\n\r\n", [400]) }
        + hosts.map { ("Host \($0)", "GET /x HTTP/1.1\r\nHost: \($0)\r\n\r\n", [400]) } + lines

    private static let framing = [
        "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5, 5",
        "Content-Length: +5", "Content-Length: -1", "Content-Length: 0x5", "Content-Length: 5_0", "Content-Length:  5",
        "Content-Length: 18446744073709551621", "Content-Length: 9223372036854775808", "Content-Length: ",
        "Content-Length: 05", "Content-Length: 5;", "Content-Length: \u{0b}5", "Content-Length : 5",
        " Transfer-Encoding: chunked", "Transfer-Encoding : chunked",
        "Content-Length: 1\r\nExpect: 100-continue\r\nContent-Length: 2",
    ]
    private static let codings = [
        "xchunked", "chunked, identity", "identity", "\u{0b}chunked", "chunked, chunked", "chunked;q=1",
        "chunked\r\nTransfer-Encoding: chunked", "\r\n chunked", "\"chunked\"", "", ",chunked", "gzip, chunked", "gzip",
    ]
    private static let fields = [
        "Host: h\r\nA: b\nC: d", "Host: h\r\nA: b\rC: d", "Host: h\r\nA: b\0", "Host: h\r\nA: b\r\n c",
        "Host: h\r\nA : b",
        " Host: h", "Host: h\r\nA(b): c", "Host: h\r\nAbc", "Host: h\r\n: c", "Host: h\r\nHost: h", "",
        "Host: h\r\n\u{e4}: c",
    ]
    private static let hosts = ["a, b", "a@b", "h:99999", "h:x", "h:", "", "h/x", "h h", "[::1", "%68", "h:80:80"]
    private static let lines: [(name: String, bytes: String, statuses: [Int])] = [
        ("bare LF", "GET /x HTTP/1.1\nHost: h\n\n", [400]),
        ("no version", "GET /x\r\n\r\n", [400]),
        ("two spaces", "GET  /x HTTP/1.1\r\nHost: h\r\n\r\n", [400]),
        ("TLS hello", "\u{16}\u{03}\u{01}\u{02}\0\u{01}\0", [400]),
        ("lower case", "get /x HTTP/1.1\r\nHost: h\r\n\r\n", [400, 405, 501]),
        ("unknown method", "FOO /x HTTP/1.1\r\nHost: h\r\n\r\n", [405, 501]),
        ("CONNECT", "CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\r\n", [405, 501]),
        ("TRACE", "TRACE /x HTTP/1.1\r\nHost: h\r\n\r\n", [405, 501]),
        ("OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", [400, 405, 501]),
        ("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400, 505]),
        ("HTTP/1.2", "GET /x HTTP/1.2\r\nHost: h\r\n\r\n", [505]),
        ("HTTP/1.0 with a coding", "POST /x HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", [400]),
        ("absolute form of another host", "GET http://other/x HTTP/1.1\r\nHost: h\r\n\r\n", [400]),
        ("user in the authority", "GET http://h@h/x HTTP/1.1\r\nHost: h\r\n\r\n", [400]),
        ("101 fields", "GET /x HTTP/1.1\r\nHost: h\r\n" + (0..<101).map { "a\($0): b\r\n" }.joined() + "\r\n", [431]),
        (
            "64 KiB of one field",
            "GET /x HTTP/1.1\r\nHost: h\r\nA: " + String(repeating: "b", count: 65536) + "\r\n\r\n", [431]
        ),
        ("10 KiB of target", "GET /" + String(repeating: "a", count: 10240) + " HTTP/1.1\r\nHost: h\r\n\r\n", [414]),
    ]

    private static let paths = [
        "/open/../admin", "/%2e%2e/admin", "/x/..%2fadmin", "/x/%252e%252e/admin", "/./admin", "//admin", "/x//y",
        "/..;/admin", "/x/..;/admin", "/x\\admin", "/x%5cadmin", "/x%00", "/x%0d%0a", "/x#frag", "/x/%c0%ae%c0%ae/",
        "/x%2fadmin", "/x%", "/x%zz", "/.", "/x/..", "/x%ff", "/x%7f", "/x\u{80}", "/x%252f", "/admin;x=1", "/admin;/x",
        "/admin%3bx", "/admin;x/pub", "/;x/admin", "/api/auth;x/me", "/api;/session/current", "/oauth2;x/token",
    ]

    private static func routes(_ upstream: RecordingUpstream) -> String {
        """
        errors: {explain: true}
        routes:
          - {path: /, upstream: \(upstream.url), require: none}
          - {path: /admin, upstream: \(upstream.url), require: token}
          - {path: /admin/pub, upstream: \(upstream.url), require: none}
          - {path: /enc, upstream: \(upstream.url), require: none, encoded_slash: true}
          - {path: /small, upstream: \(upstream.url), require: none, max_body: 10B}
        """
    }

    private struct Setup {
        let upstream: RecordingUpstream
        let gateway: any GatewayUnderTest
        func stop() {
            gateway.stop()
            upstream.stop()
        }

        /// A sound request is still served, and it is the only one the upstream sees.
        func expectControl(_ name: String) throws {
            upstream.forget()
            let answer = try gateway.raw("GET /control HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(answer.status == 200 && upstream.requests.map(\.target) == ["/control"], "after \(name)")
            upstream.forget()
        }
    }

    private func setup() async throws -> Setup {
        let upstream = try RecordingUpstream()
        return Setup(upstream: upstream, gateway: try await GatewayInProcess.start(Self.routes(upstream), users: []))
    }

    @Test("A malformed head is refused, the connection closed, nothing forwarded")
    func malformedHeads() async throws {
        let setup = try await setup()
        defer { setup.stop() }
        for attack in Self.heads {
            // Had it been taken for a whole request, a second one would be smuggled behind it.
            let bytes = Latin1.bytes(attack.bytes + "GET /admin HTTP/1.1\r\nHost: h\r\n\r\n")
            let (answer, isClosed) = try setup.gateway.rawAndClose(bytes)
            #expect(attack.statuses.contains(answer.status) && isClosed, "\(attack.name): \(answer.status)")
            #expect(setup.upstream.requests.isEmpty, "\(attack.name)")
            try setup.expectControl(attack.name)
        }
    }

    @Test("A path that two servers might read differently is refused")
    func paths() async throws {
        let setup = try await setup()
        defer { setup.stop() }
        for path in Self.paths {
            let answer = try setup.gateway.raw("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(answer.status == 400 && answer.code == "bad_message", "\(path): \(answer.status)")
            #expect(setup.upstream.requests.isEmpty, "\(path)")
            try setup.expectControl(path)
        }
        let sound = [
            ("/x%41", "/xA"), ("/x%c3%a4", "/x%C3%A4"), ("/x.", "/x."), ("/...", "/..."), ("/x[1]", "/x%5B1%5D"),
            ("/ADMIN", "/ADMIN"),
            ("/x;a=b", "/x;a=b"), ("/enc/a%2fb", "/enc/a%2Fb"), ("/admin/pub;v=1", nil), ("/adminx", "/adminx"),
            ("/x?a=/../b", "/x?a=/../b"),
        ]
        for (path, forwarded) in sound {
            _ = try setup.gateway.raw("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(setup.upstream.requests.first?.target == forwarded, "\(path)")
            setup.upstream.forget()
        }
        for path in ["/admin", "/admin/", "/%61dmin/x", "/admin?x=/open"] {
            #expect(try setup.gateway.raw("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n").status == 401, "\(path)")
        }
        #expect(setup.upstream.requests.isEmpty)
    }

    @Test("A broken chunk ends the request: 400, closed, and the upstream never sees it complete")
    func brokenChunks() async throws {
        let setup = try await setup()
        defer { setup.stop() }
        let bodies = [
            "0x2\r\nab\r\n0\r\n\r\n", "+2\r\nab\r\n0\r\n\r\n", "2 \r\nab\r\n0\r\n\r\n", "2;\r\nab\r\n0\r\n\r\n",
            "2;a\nb\r\nab\r\n0\r\n\r\n",
            "2\nab\n0\n\n", "fffffffffffffffff\r\nab", "-2\r\nab\r\n0\r\n\r\n", "2\r\nabc\r\n0\r\n\r\n",
            "2\r\nab0\r\n\r\n", "\r\nab",
            "2\r\nab\r\n0\r\nContent-Length: 5\r\n\r\n", "2\r\nab\r\n0\r\nA b: c\r\n\r\n",
            "2;a=\u{01}\r\nab\r\n0\r\n\r\n",
        ]
        for body in bodies {
            let (answer, isClosed) = try setup.gateway.rawAndClose(
                Latin1.bytes("POST /x HTTP/1.1\r\nHost: h\r\n\(Self.chunked)\r\n\(body)"))
            #expect(answer.status == 400 && isClosed, "\(body.debugDescription): \(answer.status)")
            // The recording upstream records whole requests only.
            #expect(setup.upstream.requests.isEmpty, "\(body.debugDescription)")
            try setup.expectControl(body)
        }
        for body in ["2;a=b\r\nab\r\n0\r\n\r\n", "02\r\nab\r\n00\r\nAuthorization: x\r\nX-Auth-User: y\r\n\r\n"] {
            let answer = try setup.gateway.raw("POST /x HTTP/1.1\r\nHost: h\r\n\(Self.chunked)\r\n\(body)")
            #expect(answer.status == 200)
            #expect(
                setup.upstream.requests.first.map { String(decoding: $0.rawBody, as: UTF8.self) }
                    == "2\r\nab\r\n0\r\n\r\n")
            setup.upstream.forget()
        }
    }

    @Test("A bad byte is refused when it is seen, also in the second request of a connection")
    func badByteAtOnce() async throws {
        let setup = try await setup()
        defer { setup.stop() }
        for start in [
            "GET /x HTTP/1.1\r\nHost: h\r\nA\0", "GET /x HTTP/1.1\r\nHost: h\r\nA :", "GET /x HTTP/1.1\r\nA", "q",
        ] {
            let bytes = start.hasSuffix("A") ? start + "\0" : start
            #expect(try setup.gateway.raw(bytes).status == 400, "\(bytes.debugDescription)")
        }
        let socket = try RawSocket(port: setup.gateway.port)
        try socket.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\ngarbage\r\n\r\n")
        #expect(try socket.response(toHead: true).status == 200)
        let second = try socket.response()
        #expect(try second.status == 400 && second.code == "bad_message" && socket.isClosedByPeer())
        try setup.expectControl("garbage")
    }

    @Test("A token longer than 8 KiB is refused before it is looked at")
    func longTokens() async throws {
        let setup = try await setup()
        defer { setup.stop() }
        for count in [8193, 20_000, 65_536, 1_048_576] {
            let token = "ey" + String(repeating: "a", count: count) + ".e.s"
            let inField = try setup.gateway.raw(
                "GET /admin HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n\r\n")
            #expect(inField.status == 431 && inField.code == "header_too_large")
            let inQuery = try setup.gateway.raw("GET /?access_token=\(token) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(inQuery.status == 414 && inQuery.code == "header_too_large")
        }
        let short = "ey" + String(repeating: "a", count: 8000) + ".e.s"
        #expect(
            try setup.gateway.raw("GET /admin HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(short)\r\n\r\n").code
                == "invalid_token")
        try setup.expectControl("long tokens")
    }

    @Test("A body beyond max_body is 413, whether it says so beforehand or not")
    func largeBodies() async throws {
        let setup = try await setup()
        defer { setup.stop() }
        let said = try setup.gateway.raw("POST /small HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\nhello world")
        let unsaid = try setup.gateway.raw(
            "POST /small HTTP/1.1\r\nHost: h\r\n\(Self.chunked)\r\nb\r\nhello world\r\n0\r\n\r\n")
        #expect(said.status == 413 && unsaid.status == 413 && unsaid.code == "payload_too_large")
        #expect(setup.upstream.requests.isEmpty)
        #expect(
            try setup.gateway.raw("POST /small HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhello worl").status
                == 200)
    }

    /// Tries again what fails where the machine stops for so long that an unused connection is closed.
    private static func patiently<Value>(_ attempt: () throws -> Value) throws -> Value {
        for _ in 0..<2 {
            if let value = try? attempt() { return value }
        }
        return try attempt()
    }

    @Test("A head that does not arrive in time is 408, an unused connection is closed")
    func slowHeads() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            "server: {header_timeout: 2s, idle_timeout: 3s}\n" + Self.routes(upstream), users: [])
        defer { gateway.stop() }
        let silent = try RawSocket(port: gateway.port)
        let slow: (status: Int, isClosed: Bool) = try Self.patiently {
            let socket = try RawSocket(port: gateway.port)
            try socket.send("GET /x HTTP/1.1\r\nHost:")
            return (try socket.response().status, try socket.isClosedByPeer())
        }
        #expect(try slow.status == 408 && slow.isClosed && silent.isClosedByPeer())
        // The same on a connection that has served a request before.
        let used: [Int] = try Self.patiently {
            let socket = try RawSocket(port: gateway.port)
            try socket.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
            let first = try socket.response().status
            try socket.send("GET /x HTTP/1.1\r\nHost:")
            return [first, try socket.response().status]
        }
        #expect(used == [200, 408])
        let idle: (status: Int, isClosed: Bool) = try Self.patiently {
            let socket = try RawSocket(port: gateway.port)
            try socket.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
            return (try socket.response().status, try socket.isClosedByPeer())
        }
        #expect(idle.status == 200 && idle.isClosed)
    }
}
