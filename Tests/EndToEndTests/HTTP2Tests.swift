import Foundation
import Testing

/// The public listener over TLS with HTTP/2, as curl speaks it. Needs curl and openssl, and is skipped without them.
@Suite(.enabled(if: ProxyInFront.hasHTTP2Tools, "curl with HTTP/2 and openssl are needed"), .blocking)
struct HTTP2Tests {
    private static func run(
        _ program: String, _ arguments: [String], input: Data? = nil
    ) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        let (stdin, stdout) = try Program.start(process) {
            let (stdin, stdout) = (Pipe(), Pipe())
            process.standardInput = stdin
            process.standardOutput = stdout
            return (stdin, stdout)
        }
        if let input { stdin.fileHandleForWriting.write(input) }
        try? stdin.fileHandleForWriting.close()
        let output = stdout.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    private struct Setup {
        let gateway: any GatewayUnderTest
        let upstream: RecordingUpstream
        let certificate: String

        func stop() {
            gateway.stop()
            upstream.stop()
        }

        /// Status and body, HTTP/2 only.
        func curl(
            _ path: String, _ more: [String] = [], input: Data? = nil
        ) throws -> (exit: Int32, status: String, body: String) {
            let url = "https://localhost:\(gateway.port)\(path)"
            let result = try HTTP2Tests.run(
                ProxyInFront.find("curl") ?? "curl",
                [
                    "-sS", "--http2", "--path-as-is", "--max-time", "60", "--cacert", certificate, "-w",
                    "\n%{http_code} %{http_version}",
                ] + more
                    + [url], input: input)
            var lines = result.output.components(separatedBy: "\n")
            return (result.status, lines.removeLast(), lines.joined(separator: "\n"))
        }
    }

    private func setup(_ script: RecordingUpstream.Script? = nil) async throws -> Setup {
        let place = try GatewayProcess.makeDirectory()
        let (certificate, key) = ("\(place.path)/c.pem", "\(place.path)/k.pem")
        _ = try Self.run(
            ProxyInFront.find("openssl") ?? "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                "-out", certificate,
                "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
            ])
        let upstream = try script.map { try RecordingUpstream(script: $0) } ?? RecordingUpstream()
        let gateway = try await GatewayInProcess.start(
            """
            server: {tls: {certificate: \(certificate), key: \(key)}}
            tokens: {issuer: "https://localhost"}
            routes:
              - {path: /, upstream: \(upstream.url), require: none}
              - {path: /admin, upstream: \(upstream.url), require: token}
            """, users: [], directory: place)
        return Setup(gateway: gateway, upstream: upstream, certificate: certificate)
    }

    @Test("A request over HTTP/2 reaches the upstream as HTTP/1.1, with what the gateway strips and adds")
    func converted() async throws {
        let setup = try await setup()
        defer { setup.stop() }
        let answer = try setup.curl(
            "/x?y=1", ["-H", "X-Auth-User: evil", "-H", "Cookie: a=1; __Host-gatehouse=s", "-H", "TE: trailers"])
        #expect(answer.status == "200 2" && answer.body == "ok")
        let seen = try #require(setup.upstream.requests.first)
        #expect(
            seen.target == "/x?y=1" && seen["host"] == "localhost:\(setup.gateway.port)"
                && seen["x-forwarded-proto"] == "https")
        #expect(seen["cookie"] == "a=1" && !seen.text.contains("evil") && seen["te"] == nil)
        #expect(try setup.curl("/admin").status == "401 2")
        for path in ["/x/%2e%2e/admin", "//admin", "/admin;x", "/x%00"] {
            #expect(try setup.curl(path).status == "400 2", "\(path)")
        }
        #expect(setup.upstream.requests.count == 1)
    }

    @Test("Bodies go on with their length, or in chunks when none was named")
    func bodies() async throws {
        let setup = try await setup()
        defer { setup.stop() }
        #expect(try setup.curl("/l", ["--data-binary", "hello"]).status == "200 2")
        #expect(setup.upstream.requests.last?["content-length"] == "5")
        let large = Data(repeating: 0x61, count: 3 << 20)
        #expect(try setup.curl("/c", ["-T", "-", "-X", "POST"], input: large).status == "200 2")
        let seen = try #require(setup.upstream.requests.last)
        #expect(seen["transfer-encoding"] == "chunked" && seen.body.count == large.count)
    }

    @Test("A large answer arrives whole, a broken one ends with an error")
    func answers() async throws {
        let setup = try await setup { request, stream in
            if request.target == "/broken" {
                try stream.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
                return .close
            }
            try stream.send("HTTP/1.1 200 OK\r\nContent-Length: \(8 << 20)\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n")
            try stream.send([UInt8](repeating: 0x7a, count: 8 << 20))
            return .keep
        }
        defer { setup.stop() }
        let large = try setup.curl("/large", ["--limit-rate", "8M"])
        #expect(large.exit == 0 && large.body.utf8.count == 8 << 20)
        #expect(try setup.curl("/broken").exit != 0)
        #expect(try setup.curl("/large", ["-I"]).status == "200 2")
    }
}
