import BasicsForTests
import Foundation
import Testing

/// Upgrades that are refused by the thousand.
@Suite(.alone("ten thousand upgrades take both cores", limit: .seconds(1_200))) struct RefusedUpgradesTests {
    /// `GATEHOUSE_REFUSED_UPGRADES=100000` for the long run.
    private static let count =
        ProcessInfo.processInfo.environment["GATEHOUSE_REFUSED_UPGRADES"].flatMap { Int($0) } ?? 10_000

    private struct Attempt: Sendable {
        var query = ""
        var headers: [(String, String)] = []
        var status: Int
        var code: String
    }

    /// Sends so many, eight at a time, each on a connection of its own since every refusal closes it. Returns the first
    /// few that were answered otherwise.
    private static func send(
        _ gateway: GatewayProcess, _ attempts: [Attempt], _ count: Int
    ) async throws -> [String] {
        let width = 8
        let jobs: [@Sendable () throws -> [String]] = (0..<width).map { worker in
            { @Sendable in
                var odd: [String] = []
                for number in stride(from: worker, to: count, by: width) where odd.count < 3 {
                    let attempt = attempts[number % attempts.count]
                    let probe = try gateway.socket("/api/runtime/agent" + attempt.query, headers: attempt.headers)
                    let answer = probe.answer
                    let isClosed = try probe.socket.isClosedByPeer()
                    if answer.status != attempt.status || answer.code != attempt.code || !isClosed {
                        odd.append("\(attempt.status) \(attempt.code): \(answer.status) \(answer.text), \(isClosed)")
                    }
                }
                return odd
            }
        }
        return try await together(jobs).flatMap { $0 }
    }

    @Test("Refused upgrades of every kind leave memory and descriptors where they were, and others undisturbed")
    func flood() async throws {
        let gateway = try await GatewayProcess.start("websocket:\n  ping: 1h\nlimits:\n  sockets_per_session: 1")
        defer { gateway.stop() }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        let held = try gateway.opened("/api/runtime/agent?" + bob.query)
        let (token, session) = ("?access_token=\(ada.token)", "&session_id=\(ada.sessionID)")
        let attempts = [
            Attempt(status: 401, code: "credentials_missing"),
            Attempt(query: "?access_token=x" + session, status: 401, code: "invalid_token"),
            Attempt(
                query: "?access_token=\(ada.token.dropLast(6))AAAAAA" + session, status: 401, code: "invalid_token"),
            Attempt(query: token + "&session_id=ses_AAAAAAAAAAAAAAAAAAAAAA", status: 403, code: "session_mismatch"),
            Attempt(query: token + "&session_id=\(bob.sessionID)", status: 403, code: "session_mismatch"),
            Attempt(
                query: token + session, headers: [("Origin", "https://evil.example")], status: 403,
                code: "origin_refused"),
            Attempt(query: "?" + bob.query, status: 429, code: "rate_limited"),
        ]
        // What allocators and pools keep for good, they have after these.
        let warm = try await Self.send(gateway, attempts, 2_000)
        #expect(warm.isEmpty, "\(warm.prefix(5))")
        let (descriptors, memory) = (try gateway.descriptors(), try gateway.residentMemory())
        let odd = try await Self.send(gateway, attempts, Self.count)
        #expect(odd.isEmpty, "\(odd.prefix(5))")
        #expect(try await eventually { try gateway.descriptors() <= descriptors + 8 })
        let grown = try gateway.residentMemory() - memory
        #expect(grown < 8 * 1024, "\(grown) KiB after \(Self.count)")

        try held.send(text: #"{"type":"intent","id":"a","intent":"echo"}"#)
        #expect(try held.message()?.json["id"] as? String == "a")
        #expect(try gateway.opened("/api/runtime/agent?" + ada.query).isOpen)
    }
}
