import BasicsForTests
import Foundation
import Testing

/// What the logs hold, and what they must never hold.
@Suite(.blocking) struct SecrecyTests {
    @Test("No log line and no audit line holds a token, a secret, a password or a whole session id, at any level")
    func logs() async throws {
        let gateway = try await GatewayInProcess.start(
            "log:\n  level: debug\n  format: json\n  access: access.jsonl\naudit:\n  file: audit.jsonl\n", users: [.ada]
        )
        let ada = try gateway.login(.ada)
        let refreshed = try gateway.refresh(ada.refreshToken).json
        let ticket = try gateway.request("POST", "/api/session/\(ada.sessionID)/ticket", headers: [ada.bearer])
        let secrets = [
            ada.token, ada.refreshToken, ada.sessionID, ada.sessionSecret, TestUser.ada.password,
            refreshed["refresh_token"] as? String ?? "", refreshed["access_token"] as? String ?? "",
            ticket.json["ticket"] as? String ?? "", "A-wrong-password",
        ]
        let json = ("Content-Type", "application/json")
        for secret in secrets {
            let quoted = secret.replacingOccurrences(of: " ", with: "%20")
            // A path is shown, and a password in one looks like any other word.
            let path = secret.contains("_") || secret.hasPrefix("eyJ") ? quoted : "x"
            _ = try gateway.request("GET", "/api/nothing/\(path)?access_token=\(quoted)")
            _ = try gateway.request("GET", "/api/runtime/agent?access_token=\(quoted)&session_id=\(quoted)")
            _ = try gateway.request("GET", "/api/session/\(path)", headers: [("Session-Secret", secret)])
            _ = try gateway.request("GET", "/api/auth/me", headers: [("Authorization", "Bearer \(secret)x")])
            _ = try gateway.request("POST", "/api/auth/login", headers: [json], body: #"{"\#(secret)":1}"#)
            _ = try gateway.request("POST", "/api/auth/login", json: ["email": secret, "password": secret])
            _ = try gateway.request("POST", "/api/auth/login", headers: [("Origin", "https://\(quoted)")])
            _ = try gateway.request("POST", "/api/auth/refresh", json: ["refresh_token": "\(secret)x"])
        }
        expectStatus(try gateway.attemptLogin(.ada), 200)
        gateway.stop()
        let audit = try String(
            contentsOf: gateway.directory.appendingPathComponent("audit.jsonl"), encoding: .utf8)
        let access = try String(
            contentsOf: gateway.directory.appendingPathComponent("access.jsonl"), encoding: .utf8)
        #expect(audit.contains("login.succeeded") && audit.contains("request.refused"))
        #expect(access.contains("/api/nothing/"))
        for secret in secrets {
            for part in [secret, String(secret.suffix(16))] {
                #expect(!gateway.log.contains(part), "the log holds \(secret.prefix(8))…")
                #expect(!audit.contains(part), "the audit log holds \(secret.prefix(8))…")
                #expect(!access.contains(part), "the access log holds \(secret.prefix(8))…")
            }
        }
        #expect(!gateway.log.contains("state.sqlite"), "no log describes the configuration: it may hold a password")
    }

    @Test("What is secret among the arguments of a command is not shown to others while it runs")
    func arguments() async throws {
        // It takes the connection, and says nothing.
        let listener = try SocketAddressing.listen(port: 0)
        defer { close(listener.descriptor) }
        let process = Process()
        process.executableURL = GatewayProcess.binary
        process.arguments = [
            "token", "verify", "pat_hunter2", "--jwks", "http://127.0.0.1:\(listener.port)/keys?sig=hunter2",
            "--issuer=https://u:hunter2@issuer.example",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try Program.start(process) {}
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        let file = "/proc/\(process.processIdentifier)/cmdline"
        #expect(
            try await eventually {
                let shown = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
                return shown.contains("--issuer=https://xxxx") && !shown.contains("hunter2")
            })
    }

    @Test("An audit log that was tampered with is found out")
    func audit() async throws {
        let gateway = try await GatewayInProcess.start("audit:\n  file: audit.jsonl\n", users: [.ada])
        _ = try gateway.login(.ada)
        expectRefused(try gateway.me("x"), 401, "invalid_token")
        gateway.stop()
        let file = gateway.directory.appendingPathComponent("audit.jsonl")
        let text = try String(contentsOf: file, encoding: .utf8)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.count >= 4 && text.contains(#""reason":"malformed""#))
        func verify(_ text: String) throws -> Int32 {
            try text.write(to: file, atomically: true, encoding: .utf8)
            return try GatewayProcess.run(["audit", "verify", file.path], in: gateway.directory, stateful: false).status
        }
        #expect(try verify(text) == 0)
        #expect(try verify(lines.dropFirst().joined(separator: "\n") + "\n") == 1, "the first line is gone")
        #expect(try verify((lines.prefix(1) + lines.dropFirst(2)).joined(separator: "\n") + "\n") == 1)
        #expect(try verify(text.replacingOccurrences(of: "malformed", with: "expired")) == 1)
        #expect(try verify(([lines[1], lines[0]] + lines.dropFirst(2)).joined(separator: "\n") + "\n") == 1)
        #expect(try verify(String(text.dropLast(5))) == 1)
        let missing = try GatewayProcess.run(["audit", "verify", "/nowhere"], in: gateway.directory, stateful: false)
        #expect(missing.status == 1)
    }
}
