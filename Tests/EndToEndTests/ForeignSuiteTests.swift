import BasicsForTests
import Foundation
import Testing

/// Judges that other people wrote: of metrics, of the API's description, of TLS, of slow clients, of HTTP/2, of tokens.
///
/// Each is skipped where its program is not installed; `make test` installs them where the distribution has them.
@Suite(.blocking(limit: .seconds(600))) struct ForeignSuiteTests {
    private static func has(_ program: String) -> Bool { ProxyInFront.find(program) != nil }

    /// A gateway with an admin listener, and the listener's port.
    private static func withAdmin() async throws -> (gateway: GatewayInProcess, admin: Int) {
        let gateway = try await GatewayInProcess.start(
            "", environment: ["GATEHOUSE_SERVER_ADMIN": "127.0.0.1:0"])
        return (gateway, try #require(gateway.adminPort))
    }

    private static func metrics(_ admin: Int) throws -> RawResponse {
        let socket = try RawSocket(port: admin)
        try socket.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return try socket.response()
    }

    @Test("Metrics have HELP and TYPE, and say which format they are in")
    func metricsFormat() async throws {
        let (gateway, admin) = try await Self.withAdmin()
        defer { gateway.stop() }
        _ = try gateway.request("GET", "/nothing")
        let answer = try Self.metrics(admin)
        #expect(answer["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        let lines = answer.text.split(separator: "\n")
        var known: Set<Substring> = []
        for line in lines {
            let words = line.split(separator: " ")
            if line.hasPrefix("# TYPE ") { #expect(known.contains(words[2]), "\(line)") }
            if line.hasPrefix("# HELP ") { #expect(words.count > 3 && known.insert(words[2]).inserted, "\(line)") }
            if !line.hasPrefix("#") {
                // A histogram's samples have names of their own.
                let name = line.prefix { $0 != " " && $0 != "{" }
                let families = ["", "_bucket", "_sum", "_count"].filter { name.hasSuffix($0) }
                #expect(families.contains { known.contains(name.dropLast($0.count)) }, "\(line)")
            }
        }
        #expect(lines.contains(#"gatehouse_refusals_total{code="not_found",reason="none"} 1"#))
    }

    @Test("promtool finds nothing to say about the metrics", .enabled(if: has("promtool"), "promtool is not installed"))
    func promtool() async throws {
        let (gateway, admin) = try await Self.withAdmin()
        defer { gateway.stop() }
        _ = try gateway.request("GET", "/nothing")
        let file = gateway.directory.appendingPathComponent("metrics")
        try Self.metrics(admin).text.write(to: file, atomically: true, encoding: .utf8)
        let found = try Program.run("sh", ["-c", "promtool check metrics < '\(file.path)'"])
        #expect(found.status == 0 && found.errors.isEmpty, "\(found.status) \(found.errors)")
    }

    /// Logs in first, since most of the API answers 401 without a login. The endpoints that end the login are tested
    /// without one.
    @Test(
        "OpenAPI's own rules are kept by the description of the API",
        .enabled(if: Program.pythonHas("openapi_spec_validator"), "openapi-spec-validator is not installed"))
    func openAPIRules() throws {
        let found = try Program.run("python3", ["-m", "openapi_spec_validator", Self.openAPI.path])
        #expect(found.status == 0, "\(String(decoding: found.output, as: UTF8.self)) \(found.errors)")
    }

    private static let openAPI = GatewayProcess.packageRoot.appendingPathComponent("Sources/Web/Assets/openapi.yaml")

    /// The paths that the description marks as not there yet, as a regular expression.
    private static func planned() throws -> String {
        let lines = try String(contentsOf: openAPI, encoding: .utf8).split(separator: "\n")
        let paths = zip(lines, lines.dropFirst()).filter { $1 == "    x-planned: true" }.map { line, _ in
            String(line.dropFirst(2).dropLast()).replacing("{", with: "\\{").replacing("}", with: "\\}")
        }
        // Those that are there only where a route is a resource, which none is here.
        let agents = [
            "/oauth2/authorize", "/authorize", "/oauth2/register", "/register", "/.well-known/oauth-protected.*",
        ]
        return "^(" + (paths + agents).joined(separator: "|") + ")$"
    }

    @Test(
        "The API is as openapi.yaml describes it, for schemathesis",
        .enabled(if: Program.pythonHas("schemathesis"), "schemathesis is not installed"))
    func schemathesis() async throws {
        let gateway = try await GatewayInProcess.start(
            "limits: {enabled: false}\naccounts: {registration: true}\nerrors: {explain: true}", users: [.ada])
        defer { gateway.stop() }
        let token = try gateway.login(.ada).token
        // A session that schemathesis has ended is 410, however valid the next request for it is.
        let settings = """
            [checks]
            positive_data_acceptance.expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "410", "429", "5xx"]
            """
        try settings.write(
            to: gateway.directory.appendingPathComponent("schemathesis.toml"), atomically: true, encoding: .utf8)
        let ending = "^/api/auth/(logout|register|login/|backchannel|passkey/|tokens)|/upgrade$"
        let planned = try Self.planned()
        for filter in [
            // A session opens for its secret or its owner's token: one of them may be wrong, which looks like none.
            [
                "--exclude-path-regex", "^/api/runtime/|\(planned)|" + ending, "--header",
                "Authorization: Bearer \(token)",
                "--exclude-checks", "ignored_auth",
            ],
            // No schema says that a token in the body and one in the header exclude each other, which tenants are open
            // to registration, which resources there are, or what a provider or an authenticator has signed.
            ["--include-path-regex", ending, "--exclude-checks", "positive_data_acceptance"],
        ] {
            let found = try Program.run(
                "timeout",
                [
                    "240", "python3", "-m", "schemathesis.cli", "run",
                    Self.openAPI.path, "--url",
                    gateway.origin,
                    "--max-time", "6", "--continue-on-failure", "--generation-deterministic", "--no-color",
                ] + filter, environment: ["HOME": gateway.directory.path], in: gateway.directory)
            #expect(found.status == 0, "\(String(decoding: found.output.suffix(6000), as: UTF8.self)) \(found.errors)")
        }
        #expect(try gateway.isHealthy(gateway.login(.ada).token) && !gateway.log.contains("unforeseen"))
    }

    /// Of what testssl finds, that which it would have mended: anything above the informative.
    @Test("testssl finds nothing to mend", .enabled(if: has("testssl"), "testssl is not installed"))
    func testssl() async throws {
        let place = try GatewayProcess.makeDirectory()
        let (key, certificate) = (place.path + "/key.pem", place.path + "/certificate.pem")
        // An RSA key: with it the suites without forward secrecy could be offered, too.
        let made = try Program.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate,
                "-subj",
                "/CN=localhost",
            ])
        #expect(made.status == 0)
        let gateway = try await GatewayProcess.start(
            "server: {tls: {certificate: \(certificate), key: \(key)}}", users: [], directory: place)
        defer { gateway.stop() }
        let report = place.appendingPathComponent("testssl.json")
        _ = try Program.run(
            "timeout",
            [
                "300", "testssl", "--quiet", "--color", "0", "--ip", "one", "--jsonfile", report.path, "-p", "-s", "-f",
                "-H", "-R", "-BB", "-L", "localhost:\(gateway.port)",
            ])
        let found = try JSONSerialization.jsonObject(with: Data(contentsOf: report)) as? [[String: Any]]
        let rows = try #require(found).map { row in
            ["id", "severity", "finding"].map { row[$0] as? String ?? "" }
        }
        #expect(rows.contains { $0[0] == "TLS1_3" && $0[1] == "OK" } && rows.contains { $0[0] == "heartbleed" })
        // About testssl itself: the machine's openssl lacks an engine.
        let bad = rows.filter { $0[0] != "engine_problem" && !["OK", "INFO"].contains($0[1]) }
        #expect(bad.isEmpty, "\(bad)")
    }

    @Test(
        "Clients that send a byte now and then are disconnected, and no other client waits for them",
        .enabled(if: has("slowhttptest"), "slowhttptest is not installed"), .quiet("it times the others' requests"),
        arguments: ["-H", "-B"])
    func slow(attack: String) async throws {
        // A process of its own, because the answers are timed.
        let gateway = try await GatewayProcess.start("server: {header_timeout: 3s, idle_timeout: 3s}")
        defer { gateway.stop() }
        let token = try gateway.login(.ada).token
        var faults = try await Self.faults(of: gateway, token, under: attack)
        // A machine that stops for seconds makes the others wait as well.
        for _ in 0..<2 where !faults.isEmpty { faults = try await Self.faults(of: gateway, token, under: attack) }
        #expect(faults.isEmpty, "\(faults)")
    }

    /// What goes wrong for another client, and for the slow ones, while slowhttptest runs.
    private static func faults(
        of gateway: GatewayProcess, _ token: String, under attack: String
    ) async throws -> [String] {
        let (process, output) = try Program.start(
            "timeout",
            [
                "60", "slowhttptest", attack, "-c", "150", "-r", "100", "-i", "1", "-x", "8", "-l", "10", "-p", "2",
                "-u",
                "\(gateway.origin)/\(attack == "-H" ? "" : "api/auth/login")", "-t", attack == "-H" ? "GET" : "POST",
            ])
        // Drained while it runs, so that it never waits for a reader.
        let text = Task.detached { String(decoding: output.readDataToEndOfFile(), as: UTF8.self) }
        var faults: [String] = []
        var slowest = Duration.zero
        while process.isRunning {
            let began = ContinuousClock.now
            if (try? gateway.isHealthy(token)) != true { faults.append("a good token is not served") }
            slowest = max(slowest, began.duration(to: .now))
            try await Task.sleep(for: .milliseconds(50))
        }
        process.waitUntilExit()
        let said = await text.value
        if !said.contains("YES") || said.contains("service available:   NO") { faults.append(said) }
        // Less than the slow ones are given.
        if slowest >= .seconds(2.5) { faults.append("another client waited for \(slowest)") }
        // They were there, and the gateway ended it, not the end of the time.
        if attack == "-H", !said.contains("No open connections left") { faults.append("they are still there: \(said)") }
        return faults
    }

    @Test(
        "An HTTP/2 connection is closed within a second after its client has ended it, in each way to end it",
        .enabled(if: HTTP2Script.canRun, "Python's h2, or openssl, is not installed"))
    func clientEndsConnection() async throws {
        let place = try GatewayProcess.makeDirectory()
        let gateway = try await GatewayInProcess.start(try HTTP2Script.tls(in: place), users: [], directory: place)
        defer { gateway.stop() }
        let found = try HTTP2Script.run("http2_close", gateway, [])
        #expect(Set(found.keys) == ["fin", "goaway", "close_notify"])
        for (way, seconds) in found { #expect(seconds as? Double ?? 99 < .promptly, "\(way): \(seconds)") }
    }

    @Test(
        "Node's HTTP/2 session closes at once",
        .enabled(if: has("node") && HTTP2Script.canRun, "Node, or openssl, is not installed"))
    func nodeEndsSession() async throws {
        let place = try GatewayProcess.makeDirectory()
        let gateway = try await GatewayInProcess.start(try HTTP2Script.tls(in: place), users: [], directory: place)
        defer { gateway.stop() }
        let told = try Program.run("node", [Program.script("http2_close.mjs"), "\(gateway.port)"])
        let found = try JSONSerialization.jsonObject(with: told.output) as? [String: Any]
        #expect(found?["node"] as? Double ?? 99 < .promptly, "\(told)")
    }

    @Test(
        "nghttp's connections are gone with it",
        .enabled(if: has("nghttp") && HTTP2Script.canRun, "nghttp, or openssl, is not installed"))
    func nghttp() async throws {
        let place = try GatewayProcess.makeDirectory()
        let gateway = try await GatewayInProcess.start(try HTTP2Script.tls(in: place), users: [], directory: place)
        defer { gateway.stop() }
        for _ in 0..<5 {
            let asked = try Program.run("nghttp", ["-v", "https://localhost:\(gateway.port)/"])
            #expect(String(decoding: asked.output, as: UTF8.self).contains(":status: 200"))
        }
        let isAlone = try await eventually { try Self.connections(of: gateway.port).isEmpty }
        let left = try Self.connections(of: gateway.port)
        #expect(isAlone, "\(left)")
    }

    /// The states of the gateway's connections, as the kernel numbers them: 01 established, 08 waiting for our close.
    private static func connections(of port: Int) throws -> [String] {
        let local = String(format: "0100007F:%04X", port)
        return try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count > 3, words[1] == local, ["01", "08"].contains(words[3]) else { return nil }
            return String(words[3])
        }
    }

    @Test(
        "Authlib and joserfc read tokens, keys and metadata, and take no forged token",
        .enabled(
            if: Program.pythonHas("authlib") && Program.pythonHas("joserfc"), "Authlib or joserfc is not installed"),
        arguments: ["ES256", "ES384", "Ed25519", "EdDSA", "PS256", "RS256"])
    func tokens(algorithm: String) async throws {
        let gateway = try await GatewayInProcess.start("tokens: {algorithm: \(algorithm)}", users: [.ada])
        defer { gateway.stop() }
        let added = try GatewayProcess.run(
            ["clients", "add", "service", "--tenant", "acme", "--scope", "orders:read", "--json"], in: gateway.directory
        )
        let client = try JSONSerialization.jsonObject(with: Data(added.output.utf8)) as? [String: Any] ?? [:]
        let told = try Program.run(
            "python3",
            [
                Program.script("foreign_tokens.py"), gateway.origin, TestUser.ada.email, TestUser.ada.password,
                client["client_id"] as? String ?? "", client["client_secret"] as? String ?? "",
            ])
        let found = try? JSONSerialization.jsonObject(with: told.output) as? [String: Any]
        #expect(found?["algorithm"] as? String == algorithm, "\(told)")
        #expect(found?["issuer"] as? String == gateway.origin)
        #expect(found?["access"] as? [String] == ["at+jwt", "ours"])
        #expect(found?["assertion"] as? [String] == ["gatehouse-assertion+jwt", "ours"])
        for check in ["forged", "client", "introspected", "revoked"] {
            #expect(found?[check] as? Bool == true, "\(check)")
        }
        #expect(found?["stranger"] as? String == "invalid_client")
    }
}
