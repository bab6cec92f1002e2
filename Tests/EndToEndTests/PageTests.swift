import Foundation
import Testing

/// The console and the browser client, in a real browser and in Node, against the built binary.
@Suite(.blocking) struct PageTests {
    private static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = GatewayProcess.packageRoot
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
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

    @Test("The browser client keeps its promises without a browser")
    func client() throws {
        let result = try Self.run(["node", "--test", "Tests/BrowserTests/gatehouse.test.mjs"])
        // 127: there is no Node here.
        #expect(result.status == 0 || result.status == 127, "\(result.output)")
    }
}
