import Foundation
import Testing

/// The commands about tokens.
extension CLITests {
    @Test("token verify exits 0 for a good token, 1 for a bad one with its reason, 2 for a key it can't use")
    func verify() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let token = try gateway.login(.ada).token
        let url = "\(gateway.origin)/.well-known/jwks.json"
        let set = gateway.directory.appendingPathComponent("set.json").path
        try gateway.request("GET", "/.well-known/jwks.json").text.write(toFile: set, atomically: true, encoding: .utf8)
        let keys = gateway.directory.appendingPathComponent("keys").path
        let pem = try FileManager.default.contentsOfDirectory(atPath: keys).first { $0.hasSuffix(".pem") } ?? ""
        for key in [["--jwks", url], ["--jwks", set], ["--key", "\(keys)/\(pem)"]] {
            func verify(_ token: String, _ more: String...) throws -> CommandResult {
                try GatewayProcess.run(
                    ["token", "verify"] + key + more, in: gateway.directory, input: "\(token)\n", stateful: false)
            }
            let good = try verify(token, "--issuer", gateway.origin, "--audience", "gatehouse", "--type", "at+jwt")
            #expect(good.status == 0, "\(key): \(good.errors)")
            let forged = try verify("\(token.dropLast(6))AAAAAA", "--json")
            #expect(forged.status == 1 && forged.output.contains(#""reason":"signature_invalid""#))
            Self.expectFailure(try verify(token, "--audience", "another"), 1, "audience_mismatch")
            Self.expectFailure(try verify("no token"), 1, "malformed")
            Self.expectFailure(try verify(""), 1, "malformed")
            Self.expectFailure(try verify(token, "--algorithm", "none"), 2, "--algorithm")
        }
        for key in [[], ["--key", "/nowhere"], ["--jwks", "http://127.0.0.1:1/"], ["--key", set, "--jwks", set]] {
            let result = try GatewayProcess.run(
                ["token", "verify"] + key, in: gateway.directory, input: token, stateful: false)
            Self.expectFailure(result, 2)
        }
    }

    @Test("token verify --lines answers each line in its order, and one refusal is enough for exit 1")
    func lines() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let token = try gateway.login(.ada).token
        let set = gateway.directory.appendingPathComponent("set.json").path
        try gateway.request("GET", "/.well-known/jwks.json").text.write(toFile: set, atomically: true, encoding: .utf8)
        func verify(_ lines: [String], _ more: String...) throws -> CommandResult {
            try GatewayProcess.run(
                ["token", "verify", "--jwks", set, "--lines"] + more, in: gateway.directory,
                input: lines.map { $0 + "\n" }.joined(), stateful: false)
        }
        let good = try verify([token, token])
        #expect(good.status == 0 && good.output == "verified\nverified\n")
        let windows = try verify([token + "\r", token])
        #expect(windows.status == 0 && windows.output == "verified\nverified\n", "\(windows)")
        #expect(try verify([token + "\r\r"]).status == 1)
        let mixed = try verify([token, "\(token.dropLast(6))AAAAAA", "", "no token", token])
        #expect(mixed.status == 1)
        #expect(
            mixed.output.split(separator: "\n") == [
                "verified", "refused signature_invalid", "refused malformed", "refused malformed", "verified",
            ])
        let json = try verify([token, "x"], "--json", "--signature-only")
        #expect(json.status == 1 && json.output.split(separator: "\n").count == 2)
        #expect(json.output.hasPrefix(#"{"verified":true"#) && json.output.contains(#""verified":false"#))
    }

    @Test("token inspect says what a token holds, escapes what a terminal would obey, and never calls it valid")
    func inspect() async throws {
        let gateway = try await GatewayInProcess.start("", users: [])
        defer { gateway.stop() }
        let issued = try GatewayProcess.run(
            ["token", "issue", "--subject", "usr_x", "--claim", "name=\u{1B}[31m\u{7}\u{202E}x\r\ny"],
            in: gateway.directory, stateful: false)
        for format in [[], ["--json"]] {
            let result = try GatewayProcess.run(
                ["token", "inspect"] + format, in: gateway.directory, input: issued.output, stateful: false)
            #expect(result.status == 0 && result.output.contains("usr_x"))
            let scalars = Set(result.output.unicodeScalars)
            #expect(scalars.isDisjoint(with: ["\u{1B}", "\u{7}", "\u{202E}", "\r"]))
            #expect(!result.output.lowercased().contains("valid"))
        }
        // What came from outside may begin like an option.
        let dashed = try GatewayProcess.run(
            ["token", "issue", "--subject", "-h", "--audience", "-a", "--scope", "--json", "--claim", "-n=-1"],
            in: gateway.directory, stateful: false)
        let said = claims(of: dashed.output.trimmingCharacters(in: .newlines))
        #expect(dashed.status == 0 && said["sub"] as? String == "-h" && said["aud"] as? String == "-a", "\(dashed)")
        #expect(said["scope"] as? String == "--json" && said["-n"] as? Int == -1)
        let unreadable = try Self.run("token", "inspect", input: "a.b.c")
        Self.expectFailure(unreadable, 1)
        #expect(!unreadable.errors.lowercased().contains("valid"))
    }

    @Test("A hundred megabytes on standard input are refused without being read")
    func endless() throws {
        let process = Process()
        process.executableURL = GatewayProcess.binary
        process.arguments = ["token", "inspect"]
        process.standardError = FileHandle.nullDevice
        let input = try Program.start(process) {
            let input = Pipe()
            process.standardInput = input
            return input
        }
        let chunk = Data(repeating: UInt8(ascii: "a"), count: 1 << 20)
        var written = 0
        while written < 100, (try? input.fileHandleForWriting.write(contentsOf: chunk)) != nil { written += 1 }
        process.waitUntilExit()
        #expect(process.terminationStatus == 1 && written < 5)
    }
}
