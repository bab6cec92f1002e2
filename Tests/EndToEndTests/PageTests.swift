import BasicsForTests
import Foundation
import Testing

/// The pages and the browser client in a real browser, against a running gateway.
@Suite(.heavy("a browser takes all cores while it draws")) struct PageTests {
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

    @Test("The page makes a session, logs in, survives a reload, echoes and says every refusal in words")
    func page() async throws {
        let gateway = try await GatewayInProcess.start("errors: {explain: true}\n")
        defer { gateway.stop() }
        let result = try Self.run([
            "python3", "Tests/BrowserTests/page_test.py", gateway.origin, TestUser.ada.email, TestUser.ada.password,
        ])
        // 77: this machine has no browser, which `make test` installs.
        #expect(result.status == 0 || result.status == 77, "\(result.output)")
    }

    @Test("A browser's sockets over HTTP/2 open, end with their session, and never open where there is none")
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
        arguments: ["sign_in_test.py", "inspect_test.py"])
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
        .enabled(if: Program.pythonHas("oidc_provider_mock"), "oidc-provider-mock is not installed"))
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

    @Test("A browser's authenticator registers while signed in, and signs in without a password")
    func passkeys() async throws {
        let gateway = try await GatewayInProcess.start("errors: {explain: true}\n", users: [.ada])
        defer { gateway.stop() }
        let result = try Self.run([
            "python3", "Tests/BrowserTests/passkey_test.py", "http://localhost:\(gateway.port)", TestUser.ada.email,
            TestUser.ada.password,
        ])
        #expect(result.status == 0 || result.status == 77, "\(result.output)")
    }

    @Test("The operator's console takes a token, ends what it is told to and says why, by mouse and by keyboard")
    func consoleWorks() throws { try console("works") }

    @Test("The operator's console lists 50,000 sessions without a stutter, and tells an outage")
    func consoleOfMany() throws { try console("many") }

    @Test("The operator's console fits phone and 4K in light and dark, and is readable for all")
    func consoleLooks() throws { try console("looks") }

    private func console(_ what: String) throws {
        let result = try Self.run(["python3", "Tests/BrowserTests/admin_test.py", what])
        #expect(result.status == 0 || result.status == 77, "\(result.output)")
    }

    @Test("What the console ends at a gateway's admin listener, a socket and a session, ends in the page that has it")
    func consoleOfAGateway() async throws {
        let (gateway, admin) = try await GatewayInProcess.startWithAdmin("limits: {enabled: false}\n")
        defer { gateway.stop() }
        let result = try Self.run([
            "python3", "Tests/BrowserTests/admin_test.py", "http://127.0.0.1:\(admin.port ?? 0)", admin.token ?? "",
            gateway.origin, TestUser.ada.email, TestUser.ada.password,
        ])
        #expect(result.status == 0 || result.status == 77, "\(result.output)")
    }

    @Test("Every page fits phone and 4K in light and dark, is readable for all, is small, and keeps to itself")
    func looks() async throws {
        let gateway = try await GatewayInProcess.start("limits: {enabled: false}\n")
        defer { gateway.stop() }
        let result = try Self.run(["python3", "Tests/BrowserTests/looks_test.py", gateway.origin])
        #expect(result.status == 0 || result.status == 77, "\(result.output)")
    }

    @Test("The client keeps its promises in real tabs: offline, restarted, refreshed twice, a service worker between")
    func clientInTabs() throws {
        let result = try Self.run(["python3", "Tests/BrowserTests/client_test.py", GatewayProcess.binary.path])
        #expect(result.status == 0 || result.status == 77, "\(result.output)")
    }
}
