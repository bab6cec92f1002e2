import BasicsForTests
import Foundation
import Testing

/// What the public listener takes from whom, before any HTTP.
@Suite(.blocking) struct ListenerTests {
    @Test("With proxy_protocol the balancer names the client, and a connection without the header is refused")
    func proxyProtocol() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        func listening(_ more: String = "") async throws -> GatewayInProcess {
            try await GatewayInProcess.start(
                """
                server: {proxy_protocol: true, trusted_proxies: [127.0.0.1]\(more)}
                routes: [{path: /, upstream: \(upstream.url), require: none}]
                """, users: [])
        }
        let gateway = try await listening()
        defer { gateway.stop() }
        let request = "GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 198.51.100.1\r\nConnection: close\r\n\r\n"
        #expect(try gateway.raw("PROXY TCP4 203.0.113.7 127.0.0.1 12345 80\r\n" + request).status == 200)
        // The named client is not in the list, so what it says of others does not count.
        #expect(upstream.requests.last?["x-forwarded-for"] == "203.0.113.7")
        let block: [UInt8] =
            [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x21, 0x11, 0, 12]
            + [203, 0, 113, 9, 127, 0, 0, 1, 0x30, 0x39, 0, 80]
        #expect(try gateway.raw(block + Array(request.utf8)).status == 200)
        #expect(upstream.requests.last?["x-forwarded-for"] == "203.0.113.9")
        #expect(try gateway.raw("PROXY UNKNOWN\r\n" + request).status == 200)
        upstream.forget()
        for start in ["", "PROXY TCP4 nobody 127.0.0.1 1 2\r\n", "PROXY TCP4 1.2.3.4\r\n"] {
            let socket = try RawSocket(port: gateway.port)
            try socket.send(start + request)
            #expect(try socket.isClosedByPeer(), "\(start)")
        }
        // At a gateway of its own, since what comes in time above is given more of it.
        let hasty = try await listening(", header_timeout: 1s")
        defer { hasty.stop() }
        let silent = try RawSocket(port: hasty.port)
        try? silent.send("PROXY TCP4")
        #expect(try silent.isClosedByPeer() && upstream.requests.isEmpty)
    }

    @Test("A peer that is not trusted may not speak the PROXY protocol")
    func untrustedBalancer() async throws {
        let gateway = try await GatewayInProcess.start(
            "server: {proxy_protocol: true, trusted_proxies: [192.0.2.1]}", users: [])
        defer { gateway.stop() }
        let socket = try RawSocket(port: gateway.port)
        try? socket.send("PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try socket.isClosedByPeer())
    }

    @Test("Beyond max_connections new ones are closed at once, and room is made by those that go")
    func maxConnections() async throws {
        let gateway = try await GatewayInProcess.start("server: {max_connections: 3}", users: [])
        defer { gateway.stop() }
        var held: [RawSocket] = []
        for _ in 0..<3 {
            let socket = try RawSocket(port: gateway.port)
            try socket.send("GET /api/auth/me HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try socket.response().status == 401)
            held.append(socket)
        }
        #expect(try RawSocket(port: gateway.port).isClosedByPeer())
        held.removeFirst()
        #expect(
            try await eventually { (try? gateway.request("GET", "/api/auth/me").status) == 401 })
    }
}
