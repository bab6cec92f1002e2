import BasicsForTests
import Foundation
import Testing

/// `gatehouse keys`, obeyed by a running gateway within a second.
@Suite(.blocking) struct KeyRotationTests {
    private static func keys(_ arguments: [String], _ gateway: any GatewayUnderTest) throws -> String {
        let result = try GatewayProcess.run(["keys"] + arguments, in: gateway.directory)
        #expect(result.status == 0, "\(result.errors)")
        return result.output.trimmingCharacters(in: .newlines)
    }

    private static func published(_ gateway: any GatewayUnderTest) throws -> [String] {
        let keys = try gateway.request("GET", "/.well-known/jwks.json").json["keys"] as? [[String: Any]] ?? []
        return keys.compactMap { $0["kid"] as? String }
    }

    private static func keyID(_ token: String) -> String {
        let head = token.components(separatedBy: ".")[0]
        let padded = head + String(repeating: "=", count: (4 - head.utf8.count % 4) % 4)
        let text = padded.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let json = Data(base64Encoded: text).flatMap { try? JSONSerialization.jsonObject(with: $0) } as? [String: Any]
        return json?["kid"] as? String ?? ""
    }

    @Test("A generated key is published, a rotation signs with it while old tokens stay good, a retired one is dead")
    func life() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let first = try gateway.login(.ada)
        let old = Self.keyID(first.token)
        #expect(try Self.published(gateway) == [old])
        let tag = try gateway.request("GET", "/.well-known/jwks.json")["etag"]

        let next = try Self.keys(["generate"], gateway)
        #expect(try await eventually { try Self.published(gateway).contains(next) })
        #expect(try gateway.request("GET", "/.well-known/jwks.json")["etag"] != tag)
        #expect(Self.keyID(try gateway.login(.ada).token) == old, "published before it signs")

        #expect(try Self.keys(["rotate", "--now"], gateway) == next)
        var token = ""
        let rotated = try await eventually {
            token = try gateway.login(.ada).token
            return Self.keyID(token) == next
        }
        #expect(rotated)
        #expect(try gateway.isHealthy(first.token) && gateway.isHealthy(token))
        #expect(Set(try Self.published(gateway)) == [old, next])

        let retired = try GatewayProcess.run(["keys", "retire", old], in: gateway.directory)
        #expect(retired.status == 0 && !retired.errors.contains("signs now"), "another one signs already")
        #expect(try await eventually { try gateway.me(first.token).code == "invalid_token" })
        #expect(try Self.published(gateway) == [next])
        #expect(try gateway.isHealthy(token))
        expectStatus(try gateway.refresh(first.refreshToken), 200, "sessions outlive keys")
        let last = try GatewayProcess.run(["keys", "retire", next], in: gateway.directory)
        #expect(last.status == 0 && last.errors.contains("one was made"), "\(last.errors)")
    }

    @Test("A plain rotation announces the next key first, and signs with it only when verifiers can know it")
    func announced() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let before = Self.keyID(try gateway.login(.ada).token)
        let next = try Self.keys(["rotate", "--algorithm", "Ed25519"], gateway)
        #expect(try await eventually { try Self.published(gateway).contains(next) })
        #expect(Self.keyID(try gateway.login(.ada).token) == before)
    }

    @Test("SIGHUP reads the keys again at once, and never ends the gateway, not even while it drains")
    func hangup() async throws {
        let gateway = try await GatewayProcess.start("server:\n  drain: 2s\n", users: [])
        defer { gateway.stop() }
        let faults = { gateway.log.components(separatedBy: "the key directory can't be used").count - 1 }
        let index = gateway.directory.appendingPathComponent("keys/keyring.json")
        try Data("{".utf8).write(to: index)
        // The watch says it once, each hangup says it anew.
        #expect(try await eventually { faults() == 1 })
        for count in 2...3 {
            kill(gateway.processID, SIGHUP)
            #expect(try await eventually { faults() == count }, "\(gateway.log)")
        }
        // A request without its body keeps the gateway draining for as long as it may.
        let connection = try RawSocket(port: gateway.port)
        try connection.send("POST /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\n")
        kill(gateway.processID, SIGTERM)
        #expect(try await eventually { (try? RawSocket(port: gateway.port)) == nil })
        kill(gateway.processID, SIGHUP)
        #expect(gateway.stop() == 0)
        withExtendedLifetime(connection) {}
    }

    @Test("Keys are listed without anything private, kept for their owner only, and printed as they are served")
    func listing() async throws {
        let gateway = try await GatewayInProcess.start("", users: [])
        defer { gateway.stop() }
        let text = try Self.keys(["list", "--json"], gateway)
        let rows = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]]
        let row = try #require(rows?.first)
        #expect(row["state"] as? String == "active" && row["algorithm"] as? String == "ES256" && row["d"] == nil)
        let served = try gateway.request("GET", "/.well-known/jwks.json").text
        #expect(try Self.keys(["jwks"], gateway) == served)
        let file = gateway.directory.appendingPathComponent("keys/\(row["file"] as? String ?? "")").path
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("-----BEGIN PRIVATE KEY-----"))
        #expect(gateway.log.contains("development key was generated"))
        let unknown = try GatewayProcess.run(["keys", "retire", "nothing"], in: gateway.directory)
        #expect(unknown.status == 1)
        // One thumbprint in 64 begins like an option, and may hold the letter of --help.
        for keyID in ["-hV0", "--Vh", "-Vh-"].map({ $0 + String(repeating: "h", count: 39) }) {
            for arguments in [[keyID], [keyID, "--keys", "keys"], ["--keys", "keys", keyID]] {
                let result = try GatewayProcess.run(["keys", "retire"] + arguments, in: gateway.directory)
                #expect(result.status == 1 && result.output.isEmpty, "\(arguments): \(result)")
                #expect(result.errors.contains("has this kid"), "\(arguments): \(result)")
            }
        }
        let symmetric = try GatewayProcess.run(["keys", "rotate", "--algorithm", "HS256"], in: gateway.directory)
        #expect(symmetric.status == 2)
    }
}
