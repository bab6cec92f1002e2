import Foundation
import Testing

/// The scripts of docs/sockets.md, run as they stand.
@Suite(
    .enabled(if: Program.pythonHas("websockets"), "needs python3 with websockets"),
    .quiet("its tokens live for three seconds"))
struct DocumentedSocketTests {
    /// The Python on the page, block by block.
    private static func scripts() throws -> [String] {
        let page = GatewayProcess.packageRoot.appendingPathComponent("docs/sockets.md")
        return try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```python\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
    }

    private static func run(_ script: String, _ environment: [String: String]) throws -> [String] {
        let result = try Program.run("python3", ["-c", script], environment: environment)
        #expect(result.status == 0, "\(result.errors)")
        return String(decoding: result.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test("The first one opens a socket and gets its echo")
    func echo() async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let script = try #require(try Self.scripts().first)
            .replacingOccurrences(of: "127.0.0.1:8080", with: "127.0.0.1:\(gateway.port)")
        let lines = try Self.run(script, ["TOKEN": ada.token, "SESSION": ada.sessionID])
        #expect(lines.count == 2 && lines.first?.contains("ready") == true)
        #expect(lines.last?.contains(#"{"hello":"world"}"#) == true)
    }

    @Test("The second one's socket outlives three tokens and ends within a tenth of a second of its logout")
    func lease() async throws {
        let gateway = try await GatewayInProcess.start("tokens: {access_token_lifetime: 3s, clock_skew: 0s}")
        defer { gateway.stop() }
        let script = try #require(try Self.scripts().last)
        let best = try shortest(below: 0.1) {
            let (took, lines) = try seconds {
                try Self.run(
                    script,
                    ["GATEHOUSE": gateway.origin, "EMAIL": TestUser.ada.email, "PASSWORD": TestUser.ada.password])
            }
            #expect(took > 9)
            #expect(lines.count == 3 && lines.first?.contains("ready") == true)
            #expect(lines.dropFirst().first?.contains(#"{"still":"here"}"#) == true)
            let end = (lines.last ?? "").split(separator: " ")
            #expect(end.prefix(2) == ["4403", "session_ended"] && end.last == "ms", "\(lines)")
            return Double(end.dropLast().last.flatMap { Int($0) } ?? .max) / 1_000
        }
        #expect(best < 0.1, "\(best) s")
    }
}
