import BasicsForTests
import Foundation
import Testing

/// What a key's tokens have opened closes when the key is taken out of service.
@Suite(.blocking) struct RetiredKeyTests {
    private static let echo = #"{"type":"intent","id":"a","intent":"echo"}"#

    private static func keys(_ arguments: [String], _ gateway: any GatewayUnderTest) throws -> String {
        let result = try GatewayProcess.run(["keys"] + arguments, in: gateway.directory)
        #expect(result.status == 0, "\(result.errors)")
        return result.output.trimmingCharacters(in: .newlines)
    }

    /// An event stream that goes on for half a minute.
    private static let script: RecordingUpstream.Script = { _, stream in
        try stream.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<600 {
            try stream.send("9\r\ndata: x\n\n\r\n")
            Thread.sleep(forTimeInterval: 0.05)
        }
        return .close
    }

    /// A stream whose first bytes have come.
    private static func stream(_ gateway: any GatewayUnderTest, _ user: LoggedIn) throws -> RawSocket {
        let socket = try RawSocket(port: gateway.port)
        try socket.send("GET /events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(user.token)\r\n\r\n")
        _ = try socket.read(200)
        return socket
    }

    @Test("Sockets and streams of a retired key's tokens close; those of the other key, and refreshed ones, stay")
    func retired() async throws {
        let upstream = try RecordingUpstream(script: Self.script)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            "limits:\n  enabled: false\nroutes:\n  - {path: /events, upstream: '\(upstream.url)', require: token}",
            users: [.ada, .bob, .eve])
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let old = header(of: ada.token)["kid"] as? String ?? ""
        let bob = try gateway.login(.bob)
        let agent = try gateway.opened("/api/runtime/agent?\(ada.query)")
        let plain = try gateway.opened("/api/runtime/echo?\(ada.query)")
        let ticketed = try gateway.opened("/api/runtime/agent?ticket=\(try gateway.ticket(ada))")
        let events = try Self.stream(gateway, ada)
        let refreshed = try gateway.opened("/api/runtime/agent?\(bob.query)")
        let eve = try gateway.login(.eve)
        let repeated = try gateway.opened("/api/runtime/agent?\(eve.query)")
        expectStatus(try gateway.refresh(eve.refreshToken), 200)

        let next = try Self.keys(["rotate", "--now"], gateway)
        var control: LoggedIn?
        let rotated = try await eventually {
            let user = try gateway.login(.ada)
            control = user
            return header(of: user.token)["kid"] as? String == next
        }
        #expect(rotated)
        // As after an answer that was lost: the same refresh once more, by now with the new key. First of all, since it
        // is good for ten seconds only.
        expectStatus(try gateway.refresh(eve.refreshToken), 200)
        let other = try #require(control)
        let kept = try gateway.opened("/api/runtime/agent?\(other.query)")
        let flowing = try Self.stream(gateway, other)
        expectStatus(try gateway.refresh(bob.refreshToken), 200)

        _ = try Self.keys(["retire", old], gateway)
        let start = ContinuousClock.now
        let codes = try [agent, plain, ticketed].map { try $0.closing() }
        #expect(codes == Array(repeating: "4401 token_revoked", count: 3))
        let socketsTook = start.duration(to: .now)
        #expect(socketsTook < .promptly, "\(socketsTook)")
        // The upstream goes on for half a minute: only the gateway can end the stream by now.
        let rest = String(decoding: try events.readToEnd(), as: UTF8.self)
        let streamTook = start.duration(to: .now)
        #expect(streamTook < .promptly, "\(streamTook)")
        #expect(!rest.hasSuffix("0\r\n\r\n"), "cut without the final chunk")
        // Longer than what has piled up lasts: a stream that had ended would end the reading with an error.
        let begun = ContinuousClock.now
        while begun.duration(to: .now) < .seconds(1) { _ = try flowing.read(14) }
        for probe in [kept, refreshed, repeated] {
            try probe.send(text: Self.echo)
            #expect(try probe.message()?.json["id"] as? String == "a")
        }
        #expect(try gateway.socket("/api/runtime/agent?\(ada.query)").answer.status == 401)
    }
}
