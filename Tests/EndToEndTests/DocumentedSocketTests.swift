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

    private static func run(
        _ script: String, _ environment: [String: String]
    ) throws -> (lines: [String], errors: String) {
        let result = try Program.run("python3", ["-c", script], environment: environment)
        let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n").map(String.init)
        return (lines, result.status == 0 ? "" : "\(result.errors)")
    }

    @Test("The first one opens a socket and gets its echo")
    func echo() async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let script = try #require(try Self.scripts().first)
            .replacingOccurrences(of: "127.0.0.1:8080", with: "127.0.0.1:\(gateway.port)")
        let (lines, errors) = try Self.run(script, ["TOKEN": ada.token, "SESSION": ada.sessionID])
        #expect(errors.isEmpty)
        #expect(lines.count == 2 && lines.first?.contains("ready") == true)
        #expect(lines.last?.contains(#"{"hello":"world"}"#) == true)
    }

    @Test("The second one's socket outlives three tokens and ends within a tenth of a second of its logout")
    func lease() async throws {
        let script = try #require(try Self.scripts().last)
        // A token may end before it is used, or be refreshed too late, where the machine stops the script for half of
        // its life.
        for lifetime in [3, 12] {
            let gateway = try await GatewayInProcess.start(
                "tokens: {access_token_lifetime: \(lifetime)s, clock_skew: 0s}")
            defer { gateway.stop() }
            let account = [
                "GATEHOUSE": gateway.origin, "EMAIL": TestUser.ada.email, "PASSWORD": TestUser.ada.password,
            ]
            let started = ContinuousClock.now
            var (lines, errors) = try Self.run(script, account)
            if !errors.isEmpty, lifetime == 3 { continue }
            #expect(errors.isEmpty)
            #expect(started.duration(to: .now) > .seconds(3 * lifetime))
            #expect(lines.count == 3 && lines.first?.contains("ready") == true)
            #expect(lines.dropFirst().first?.contains(#"{"still":"here"}"#) == true)
            var best = Self.delay(lines)
            for _ in 0..<4 where best >= 0.1 {
                (lines, _) = try Self.run(script, account)
                best = min(best, Self.delay(lines))
            }
            #expect(best < 0.1, "\(best) s, \(lines)")
            return
        }
    }

    /// How long after its logout the script's socket was closed, in seconds; infinite where it was not closed for that.
    private static func delay(_ lines: [String]) -> Double {
        let end = (lines.last ?? "").split(separator: " ")
        guard end.count == 4, end.prefix(2) == ["4403", "session_ended"] else { return .infinity }
        return Double(end[2]).map { $0 / 1_000 } ?? .infinity
    }
}
