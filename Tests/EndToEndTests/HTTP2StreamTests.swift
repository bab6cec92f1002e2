import Foundation
import Testing

/// What becomes of single HTTP/2 streams, as Python's `h2` sees them: what one client sends on one of them is no harm
/// to the others.
@Suite(.enabled(if: HTTP2Script.canRun, "needs python3 with h2, and openssl"), .blocking)
struct HTTP2StreamTests {
    private static func gateway<Gateway: GatewayUnderTest>(
        _ upstream: RecordingUpstream, as kind: Gateway.Type
    ) async throws -> Gateway {
        let place = try GatewayProcess.makeDirectory()
        let tls = try HTTP2Script.tls(in: place)
        return try await kind.start(
            """
            \(tls)
            tokens: {issuer: "https://localhost"}
            routes: [{path: /, upstream: "\(upstream.url)", require: none}]
            """, users: [], environment: ["GATEHOUSE_SERVER_HEADER_TIMEOUT": "30s"], directory: place,
            listen: "127.0.0.1:0")
    }

    @Test("A head that is too large is 431 and a malformed one is reset at once; the connection goes on")
    func heads() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await Self.gateway(upstream, as: GatewayInProcess.self)
        defer { gateway.stop() }
        let found = try HTTP2Script.run("http2_streams", gateway, ["heads"])
        func told(_ name: String) -> [Any] { found[name] as? [Any] ?? [] }
        for name in ["long", "one", "many"] {
            let seen = told(name)
            #expect(seen.first as? Int == 431 && seen.last as? Int == 200, "\(name): \(seen)")
            #expect(seen.dropFirst().first as? String == "header_too_large", "\(name): \(seen)")
        }
        #expect(told("with_body").first as? Int == 431)
        // The settings hold from the first request on, which a client sends before it has read them.
        for (length, status) in [(100, 200), (17_000, 200), (30_000, 200), (34_000, 431), (60_000, 431)] {
            #expect(told("early_\(length)") as? [Int] == [status, 200], "\(length): \(told("early_\(length)"))")
        }
        for name in ["path", "scheme", "authority", "method", "host", "doubled", "unknown", "missing", "late"] {
            let seen = told("malformed_" + name)
            #expect(seen.first as? Int == 1, "\(name): PROTOCOL_ERROR, not \(seen)")
            #expect(found["after_" + name] as? Int == 200, "\(name)")
        }
        for name in ["path", "scheme", "host"] {
            #expect(told("refused_" + name) as? [String] == Self.problem, "\(name): \(told("refused_" + name))")
        }
        // Neither waited for the time limit of a head.
        for (name, value) in found where name.hasPrefix("malformed_") || name == "with_body" {
            #expect(((value as? [Any])?.last as? Double ?? 99) < 10, "\(name): \(value)")
        }
        #expect(found["far_too_large"] is String && found["at_last"] as? Int == 200)
        #expect(!upstream.requests.isEmpty && upstream.requests.allSatisfy { $0.target == "/" })
    }

    /// Status, type, code, and that the answer names its request in the body and beside it.
    private static let problem = ["400", "application/problem+json", "bad_message", "same id"]

    @Test("A malformed head gets the problem that it gets over HTTP/1.1, and OPTIONS * what it gets there")
    func problems() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await Self.gateway(upstream, as: GatewayInProcess.self)
        defer { gateway.stop() }
        let found = try HTTP2Script.run("http2_streams", gateway, ["problems"])
        for name in ["no_authority", "empty_authority", "host", "path", "scheme", "protocol"] {
            #expect(found[name] as? [String] == Self.problem, "\(name): \(found[name] ?? "nothing")")
        }
        // An answer to HEAD has no body, not even a refusal.
        #expect(found["head"] as? [Int] == [400, 0])
        #expect(found["options"] as? [String] == ["405", "method_not_allowed", "Allow"])
        #expect(found["after"] as? Int == 200)
        // Trailers that would frame or route the message make it malformed; others are dropped.
        for name in ["expect", "host", "content-length", "trailer"] {
            #expect(found["trailer_\(name)"] as? Int == 400, "\(name)")
        }
        #expect(found["trailer_x-checksum"] as? Int == 200)
        #expect(upstream.requests.allSatisfy { $0.target == "/" })
    }

    @Test("A fault of the connection ends it at once, after a GOAWAY; a fault of one stream does not")
    func brokenConnections() async throws {
        let upstream = try RecordingUpstream { request, stream in
            if request.target == "/slow" { Thread.sleep(forTimeInterval: 0.5) }
            try stream.send(RecordingUpstream.plainAnswer)
            return .keep
        }
        defer { upstream.stop() }
        let gateway = try await Self.gateway(upstream, as: GatewayInProcess.self)
        defer { gateway.stop() }
        let found = try HTTP2Script.run("http2_streams", gateway, ["broken"])
        for name in ["even_stream", "data_on_zero", "rst_on_idle", "ping_of_nine", "unreadable_fields"] {
            #expect(found[name] as? [String] == ["goaway", "closed"], "\(name): \(found[name] ?? "nothing")")
        }
        #expect(found["one_stream"] as? Int == 200)
        // STREAM_CLOSED (5) for what comes behind the end of a stream, PROTOCOL_ERROR (1) for trailers that are none
        // and for a stream below another that was opened first.
        #expect(found["late_headers"] as? Int == 5 && found["before_late_headers"] as? Int == 200)
        #expect(found["bad_trailers"] as? Int == 1 && found["late_headers_closed"] as? Int == 5)
        #expect(found["passed_over"] as? Int == 1)
    }

    @Test("An upload to a slow upstream waits at its client; the gateway holds little of it, and all of it arrives")
    func upload() async throws {
        let total = 64 << 20
        let mayRead = DispatchSemaphore(value: 0)
        let upstream = try RecordingUpstream(readsBody: false) { _, stream in
            guard mayRead.wait(timeout: .now() + 60) == .success else { return .close }
            var count = 0
            while count < total {
                let part = try stream.readSome()
                guard !part.isEmpty else { return .close }
                count += part.count
            }
            let text = String(count)
            try stream.send("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
            return .keep
        }
        defer { upstream.stop() }
        let gateway = try await Self.gateway(upstream, as: GatewayProcess.self)
        defer { gateway.stop() }
        let before = try Self.residentBytes(of: gateway)
        let client = try Program.start(
            "python3", [Program.script("http2_streams.py"), "\(gateway.port)", "upload", "\(total)"])
        // What the system itself keeps between two processes is beyond the gateway, and some megabytes.
        let sent = Int(try Program.line(client.output)) ?? total
        let held = try Self.residentBytes(of: gateway) - before
        #expect(sent < total / 2, "\(sent) bytes were taken that the client did not read")
        #expect(held < 16 << 20, "\(held) bytes")
        mayRead.signal()
        #expect(try Program.line(client.output) == #"[200, "\#(total)"]"#)
        client.process.waitUntilExit()
    }

    private static func residentBytes(of gateway: GatewayProcess) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(gateway.processID)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        let kibibytes = line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }
        return try #require(kibibytes) * 1024
    }
}
