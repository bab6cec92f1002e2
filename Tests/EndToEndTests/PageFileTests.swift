import Foundation
import Testing

/// The files of the pages as the gateway serves them, and the browser client in Node.
@Suite(.blocking) struct PageFileTests {
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

    @Test("Where a route covers `/` of one host, the console is the upstream's there, and ours elsewhere")
    func besidesARouteOfAHost() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            "routes: [{path: /, host: Shop.example, upstream: \(upstream.url), require: none}]\n")
        defer { gateway.stop() }
        for path in ["/", "/console.js", "/inspect", "/favicon.svg"] {
            let there = try Self.get(path, host: "shop.EXAMPLE:8080", gateway.port)
            #expect(there.status == 200 && there["etag"] == nil, "\(path)")
            #expect(try gateway.request("GET", path)["etag"] != nil, "\(path)")
        }
        let script = try Self.get("/gatehouse.js", host: "shop.example", gateway.port)
        #expect(script.status == 200 && script["etag"] != nil)
    }

    private static func get(_ path: String, host: String, _ port: Int) throws -> RawResponse {
        let socket = try RawSocket(port: port)
        try socket.send("GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
        return try socket.response()
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
        .enabled(if: hasNode, "needs Node 20.11, whose tests can set the clock"),
        arguments: ["gatehouse", "parts", "types", "lints", "console", "examples", "exchanges"])
    func client(name: String) throws {
        let result = try PageTests.run(["node", "--test", "Tests/BrowserTests/\(name).test.mjs"])
        #expect(result.status == 0, "\(result.output)")
    }

    /// Debian 12's own is older, and enough for its TypeScript.
    private static let hasNode: Bool = {
        let version = "const [a, b] = process.versions.node.split('.').map(Number)"
        let judge = "process.exit(a > 20 || a == 20 && b >= 11 ? 0 : 1)"
        return (try? Program.run("node", ["-e", "\(version); \(judge)"]))?.status == 0
    }()
}
