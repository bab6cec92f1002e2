import Foundation
import Testing

/// A guarded path is guarded in every spelling, and an upstream sees one spelling only.
@Suite(.blocking) struct PathSpellingTests {
    private static func escape(_ byte: UInt8, _ format: String = "%%%02X") -> String { String(format: format, byte) }

    /// Every byte that a route's path can hold: visible ASCII and the space, without separators and what begins
    /// parameters.
    private static let held = (UInt8(0x20)...0x7e).filter { !"/\\;".utf8.contains($0) }

    /// Those of them that the file may have as they are.
    private static let raw = held.filter { !" ?#%".utf8.contains($0) }

    private static func configuration(_ upstream: RecordingUpstream) -> String {
        func route(_ path: String) -> String {
            let quoted = path.replacingOccurrences(of: "\"", with: "\\\"")
            return "  - {path: \"\(quoted)\", upstream: \(upstream.url), require: token}\n"
        }
        return "routes:\n  - {path: /, upstream: \(upstream.url), require: none}\n"
            + held.map { route("/esc\(escape($0))x") }.joined()
            + raw.map { route("/raw\(Character(UnicodeScalar($0)))x") }.joined() + route("/utf%c3%a9x")
    }

    /// Asks for a path that may be made of any bytes.
    private static func status(_ gateway: any GatewayUnderTest, _ path: [UInt8]) throws -> Int {
        let socket = try RawSocket(port: gateway.port)
        try socket.send(Array("GET ".utf8) + path + Array(" HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".utf8))
        return try socket.response().status
    }

    @Test("No spelling of a guarded path, of all 256 bytes, gets past it to an open route")
    func guarded() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.configuration(upstream), users: [])
        defer { gateway.stop() }
        for byte in UInt8.min...UInt8.max {
            let spellings = [[byte]] + ["%%%02X", "%%%02x"].map { Array(Self.escape(byte, $0).utf8) }
            for (index, spelling) in spellings.enumerated() {
                // Raw, these end the path or a segment of it.
                if index == 0, "/?;".utf8.contains(byte) { continue }
                for prefix in ["/esc", "/raw"] {
                    let isGuarded = prefix == "/esc" ? Self.held.contains(byte) : Self.raw.contains(byte)
                    let status = try Self.status(gateway, Array(prefix.utf8) + spelling + Array("x".utf8))
                    let told = "\(prefix) \(byte) \(String(decoding: spelling, as: UTF8.self)): \(status)"
                    if isGuarded { #expect([400, 401].contains(status), "\(told)") }
                    if isGuarded, index > 0 { #expect(status == 401, "\(told)") }
                }
            }
        }
        for path in ["/utf%C3%A9x", "/utf%c3%a9x", "/%75tf%C3%a9%78"] {
            #expect(try Self.status(gateway, Array(path.utf8)) == 401, "\(path)")
        }
        #expect(upstream.requests.allSatisfy { !$0.target.hasPrefix("/utf") })
        // The open route is there, and takes what is not guarded.
        #expect(try Self.status(gateway, Array("/esc".utf8)) == 200)
    }

    @Test("For all spellings, one is forwarded")
    func forwarded() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            "routes: [{path: /, upstream: \(upstream.url), require: none}]", users: [])
        defer { gateway.stop() }
        for byte in Self.held {
            upstream.forget()
            var accepted = 0
            for spelling in [[byte]] + ["%%%02X", "%%%02x"].map({ Array(Self.escape(byte, $0).utf8) }) {
                if spelling == [UInt8(ascii: "?")] { continue }
                let status = try Self.status(gateway, Array("/a".utf8) + spelling + Array("x".utf8))
                #expect([200, 400].contains(status))
                accepted += status == 200 ? 1 : 0
            }
            #expect(accepted >= 2 && upstream.requests.count == accepted)
            #expect(Set(upstream.requests.map(\.target)).count == 1, "\(upstream.requests.map(\.target))")
        }
    }

    @Test("A host is the same with and without its final dot, in the file as in the request")
    func hosts() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            """
            server: {hosts: [shop.example., 127.0.0.1]}
            routes:
              - {path: /, upstream: \(upstream.url), require: none}
              - {path: /, host: Shop.example., upstream: \(upstream.url), require: token}
            """, users: [])
        defer { gateway.stop() }
        for (host, status) in [
            ("shop.example", 401), ("shop.example.", 401), ("SHOP.example.:80", 401), ("127.0.0.1", 200),
            ("other.example", 421),
        ] {
            let socket = try RawSocket(port: gateway.port)
            try socket.send("GET / HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
            #expect(try socket.response().status == status, "\(host)")
        }
    }

    @Test(
        "A path that no request can match is a fault of the configuration",
        arguments: ["/a%2Fb", "/a/../b", "/%2e%2e", "/a//b", "/a;b", "/a%3Bb", "/a?b", "/%zz", "/%00", "/%5Cb", "/%ff"])
    func refused(path: String) async throws {
        let place = try GatewayProcess.makeDirectory()
        let file = place.appendingPathComponent("gatehouse.yaml")
        func check(_ path: String) throws -> (status: Int32, output: String, errors: String) {
            try "routes:\n  - {path: \"\(path)\", require: none}\n".write(to: file, atomically: true, encoding: .utf8)
            return try GatewayProcess.run(["config", "check", "--config", file.path], in: place, stateful: false)
        }
        let found = try check(path)
        #expect(found.status != 0 && found.errors.contains("routes[0].path"), "\(found)")
        #expect(try check("/ab").status == 0)
    }
}
