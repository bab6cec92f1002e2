import EdgeConfiguration
import Foundation
import Synchronization
import Testing

@testable import gatehouse

/// Each key that is said to take effect without a restart does, in a gateway that serves.
@Suite(.blocking) struct ReloadedKeysTests {
    private static func yaml(_ lines: String, _ upstream: RecordingUpstream) -> String {
        """
        \(lines.replacing("$COLLECTOR", with: upstream.url))
        routes:
          - {path: /o, upstream: '\(upstream.url)', require: none}
          - {path: /mcp, upstream: '\(upstream.url)', require: token, resource: {name: Tools, scopes: [read]}}

        """
    }

    /// How a configuration shows a key.
    private static func shown(_ key: String, _ configuration: GatewayConfiguration) -> String? {
        GatewaySettings.all.first { $0.key == key }?.show(ConfigurationDraft(configuration))
            .map { ConfigurationText.text(of: $0) }
    }

    @Test(
        "The key changes for the next request, and is not named as one that needs a restart",
        arguments: ReloadPlan.reloadable.subtracting(ReloadPlan.ofTLS).sorted())
    func change(key: String) async throws {
        let row = try #require(ReloadedKey.all[key], "\(key) needs a row")
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.yaml(row.before, upstream))
        defer { gateway.stop() }
        let before = Self.shown(key, gateway.configuration)
        try await row.observe?(gateway, upstream, false)
        let plan = try await gateway.change(to: Self.yaml(row.after, upstream))
        #expect(!plan.needRestart.contains(key))
        let after = Self.shown(key, gateway.configuration)
        #expect(before != nil && before != after, "\(before ?? "nothing")")
        try await row.observe?(gateway, upstream, true)
    }

    @Test("Each row is of a key that a reload changes")
    func rows() {
        #expect(Set(ReloadedKey.all.keys).isSubset(of: ReloadPlan.reloadable))
    }

    /// Whether the reloads are over.
    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    @Test("Requests that flow while the configuration changes are all answered as before")
    func underLoad() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        func yaml(_ round: Int) -> String {
            Self.yaml("limits: {login_per_minute: \(round + 10)}\nerrors: {explain: \(round % 2 == 0)}", upstream)
        }
        let gateway = try await GatewayInProcess.start(yaml(0))
        defer { gateway.stop() }
        let reloadsAreOver = Flag()
        let port = gateway.port
        async let answers = together(
            (0..<3).map { _ in
                { @Sendable () throws -> [Int] in
                    let socket = try RawSocket(port: port)
                    var statuses: [Int] = []
                    // One more after the last reload, and no more than a fixed number.
                    while statuses.count < 2_000 {
                        let isLast = reloadsAreOver.isSet.load(ordering: .acquiring)
                        try socket.send("GET /o HTTP/1.1\r\nHost: h\r\n\r\n")
                        statuses.append(try socket.response().status)
                        if isLast { break }
                    }
                    return statuses
                }
            })
        for round in 1...20 {
            do {
                try await gateway.change(to: yaml(round))
            } catch {
                reloadsAreOver.isSet.store(true, ordering: .releasing)
                throw error
            }
        }
        reloadsAreOver.isSet.store(true, ordering: .releasing)
        let statuses = try await answers
        for lane in statuses {
            #expect(!lane.isEmpty && lane.allSatisfy { $0 == 200 }, "\(lane.filter { $0 != 200 })")
        }
    }
}
