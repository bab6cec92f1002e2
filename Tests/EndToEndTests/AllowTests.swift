import Foundation
import Testing

/// A 405 names in `Allow` what the target takes, for every refused method.
@Suite(.blocking) struct AllowTests {
    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]

    @Test("Allow says the same for every refused method, and the methods it names are not refused")
    func allow() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            """
            routes:
              - {path: /any, upstream: \(upstream.url), require: none}
              - {path: /some, upstream: \(upstream.url), require: none, methods: [GET, PROPFIND]}
              - {path: /some, upstream: \(upstream.url), require: token, methods: [GET], host: h}
              - {path: /some, upstream: \(upstream.url), require: token, methods: [PUT]}
            """)
        defer { gateway.stop() }
        let usual = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
        for (path, allowed) in [
            ("/", "GET, HEAD"), ("/console.js", "GET, HEAD"), ("/gatehouse.js", "GET, HEAD"), ("/any/x", usual),
            ("/some", "GET, PROPFIND, PUT"), ("/api/auth/login", "POST"), ("/api/session/current", "GET, HEAD"),
            ("/api/sessions/current", "GET, HEAD"), ("/oauth2/token", "POST"), ("/api/runtime/agent", "GET"),
            ("/api/runtime/echo", "GET"), ("/.well-known/jwks.json", "GET, HEAD"),
        ] {
            let names = Set(allowed.components(separatedBy: ", "))
            for method in Self.methods {
                let answer = try gateway.request(method, path)
                #expect((answer.status == 405) == !names.contains(method), "\(method) \(path): \(answer.status)")
                guard answer.status == 405 else { continue }
                #expect(answer["allow"] == allowed, "\(method) \(path)")
            }
        }
        #expect(try gateway.request("TRACE", "/nothing").status == 404)
        // No resource is asked for, so nothing that could be one is named.
        for request in ["CONNECT h:80 HTTP/1.1\r\nHost: h:80", "OPTIONS * HTTP/1.1\r\nHost: h"] {
            let socket = try RawSocket(port: gateway.port)
            try socket.send(request + "\r\n\r\n")
            let answer = try socket.response()
            #expect(answer.status == 405 && answer["allow"] == "GET, HEAD, POST, PUT, PATCH, DELETE", "\(request)")
        }
        #expect(!upstream.requests.contains { $0.method == "TRACE" })
    }
}
