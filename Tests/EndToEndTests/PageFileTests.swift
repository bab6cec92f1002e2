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
        let result = try PageTests.run(["node", "--test", "Tests/BrowserTests/\(name).test.mjs"])
        // 127: there is no Node here.
        #expect(result.status == 0 || result.status == 127, "\(result.output)")
    }
}
