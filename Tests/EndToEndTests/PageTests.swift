import Foundation
import Testing

/// The console and the browser client, in a real browser and in Node, against the built binary.
@Suite(.blocking) struct PageTests {
    /// Runs a program of `Tests/BrowserTests`; what it says is its output and its errors.
    static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = GatewayProcess.packageRoot
        let pipe = try Program.start(process) {
            let pipe = Pipe()
            process.standardOutput = pipe
            process.standardError = pipe
            return pipe
        }
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    @Test(
        "The page makes a session, logs in, survives a reload, echoes and says every refusal in words",
        .alone("a browser takes both cores"))
    func page() async throws {
        let gateway = try await GatewayInProcess.start("errors: {explain: true}\n")
        defer { gateway.stop() }
        let result = try Self.run([
            "python3", "Tests/BrowserTests/page_test.py", gateway.origin, TestUser.ada.email, TestUser.ada.password,
        ])
        // 77: this machine has no browser, which `make test` installs.
        #expect(result.status == 0 || result.status == 77, "\(result.output)")
    }

    @Test(
        "A browser's sockets over HTTP/2 open, end with their session, and never open where there is none",
        .alone("a browser takes both cores"))
    func overHTTP2() async throws {
        let place = try GatewayProcess.makeDirectory()
        guard let tls = try? HTTP2Script.tls(in: place) else { return }
        let gateway = try await GatewayInProcess.start(tls, directory: place)
        defer { gateway.stop() }
        let result = try Self.run([
            "python3", "Tests/BrowserTests/http2_test.py", gateway.origin, TestUser.ada.email, TestUser.ada.password,
        ])
        #expect(result.status == 0 || result.status == 77, "\(result.output)")
    }

    @Test(
        "The sign-in page offers every way, tells a failed one in words and brings people back; the inspector keeps to itself",
        .alone("a browser takes both cores"), arguments: ["sign_in_test.py", "inspect_test.py"])
    func pages(script: String) async throws {
        let gateway = try await GatewayInProcess.start("limits: {enabled: false}\n")
        defer { gateway.stop() }
        let result = try Self.run([
            "python3", "Tests/BrowserTests/\(script)", gateway.origin, TestUser.ada.email, TestUser.ada.password,
        ])
        #expect(result.status == 0 || result.status == 77, "\(result.output)")
    }

    @Test(
        "Signing in at a provider from the pages keeps the session, tells a refusal and brings people back",
        .enabled(if: Program.pythonHas("oidc_provider_mock"), "oidc-provider-mock is not installed"),
        .alone("a browser takes both cores"))
    func provider() async throws {
        let port = try SocketAddressing.unusedPort()
        let script = GatewayProcess.packageRoot.appendingPathComponent("Examples/identity-providers/story/provider.py")
        let (provider, _) = try Program.start("python3", [script.path, String(port)])
        // It has inherited blocked signals from this thread.
        defer { kill(provider.processIdentifier, SIGKILL) }
        let isListening = try await eventually { (try? RawSocket(port: port)) != nil }
        try #require(isListening)
        let gateway = try await GatewayInProcess.start(
            """
            identity_providers:
              - name: mock
                issuer: http://127.0.0.1:\(port)
                client_id: gatehouse
                client_secret: secret
                allowed: {claims: {email: [ada@example.com, bob@example.com]}}
            """)
        defer { gateway.stop() }
        let result = try Self.run(["python3", "Tests/BrowserTests/provider_test.py", gateway.origin])
        #expect(result.status == 0 || result.status == 77, "\(result.output)")
    }

    @Test(
        "Where a route covers `/`, what pages and programs rely on is still served, and the console is the upstream's")
    func besidesARoute() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            "routes: [{path: /, upstream: \(upstream.url), require: none}]\n")
        defer { gateway.stop() }
        for path in ["/gatehouse.js", "/.gatehouse/sign-in", "/.gatehouse/sign-in.js", "/openapi.yaml"] {
            let answer = try gateway.request("GET", path)
            #expect(answer.status == 200 && answer["etag"] != nil, "\(path)")
        }
        for path in ["/", "/console.js", "/exchanges.js", "/admin.js", "/inspect", "/.gatehouse/other"] {
            #expect(try gateway.request("GET", path)["etag"] == nil, "\(path)")
        }
    }

    @Test("The description of the API is public, and kept for a while")
    func openAPI() async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        let answer = try gateway.request("GET", "/openapi.yaml", headers: [("Origin", "https://elsewhere.example")])
        #expect(answer.status == 200 && answer["content-type"] == "application/yaml")
        #expect(answer["access-control-allow-origin"] == "*" && answer["cache-control"] == "public, max-age=300")
        #expect(answer.text.hasPrefix("openapi: 3.1"))
        let again = try gateway.request("GET", "/openapi.yaml", headers: [("If-None-Match", answer["etag"] ?? "")])
        #expect(again.status == 304 && again.text.isEmpty)
    }

    @Test(
        "The browser client, its package, the console's arithmetic, lints and examples keep their promises in Node",
        arguments: ["gatehouse", "parts", "types", "lints", "console", "examples", "exchanges"])
    func client(name: String) throws {
        let result = try Self.run(["node", "--test", "Tests/BrowserTests/\(name).test.mjs"])
        // 127: there is no Node here.
        #expect(result.status == 0 || result.status == 127, "\(result.output)")
    }
}
