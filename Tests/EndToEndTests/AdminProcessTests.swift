import BasicsForTests
import Foundation
import Testing

/// The operator's API of the program itself: over a Unix socket, with the token of the command, and what only the
/// program knows.
@Suite(.blocking) struct AdminProcessTests {
    private static func freshPath() -> String { "/tmp/gh-\(UUID().uuidString.prefix(8)).sock" }

    private static func auditLines(_ gateway: GatewayProcess) throws -> [[String: Any]] {
        let text = try String(contentsOf: gateway.directory.appendingPathComponent("audit.jsonl"), encoding: .utf8)
        return text.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    @Test("On a Unix socket the gateway's own user needs no token; configuration, log level and reload are there")
    func unixSocket() async throws {
        let path = Self.freshPath()
        let gateway = try await GatewayProcess.start(
            "audit: {file: audit.jsonl}\nlimits:\n  login_per_minute: 20\nroutes:\n  - {path: /o, require: token}\n",
            users: [.ada],
            environment: [
                "GATEHOUSE_SERVER_ADMIN": "unix:\(path)", "GATEHOUSE_TOKENS_CLOCK_SKEW": "5s",
                "GATEHOUSE_KEYS_PASSPHRASE": "a long enough passphrase",
            ])
        defer { gateway.stop() }
        let admin = AdminProbe(path: path)
        #expect(try admin.get("overview")["ready"] as? Bool == true)

        let configuration = try admin.get("config")
        #expect((configuration["files"] as? [String])?.first?.hasSuffix("gatehouse.yaml") == true)
        let values = try #require(configuration["values"] as? [[String: Any]])
        func value(_ key: String) -> [String: Any] { values.first { $0["key"] as? String == key } ?? [:] }
        #expect(value("limits.login_per_minute")["value"] as? String == "20")
        #expect(value("limits.login_per_minute")["from"] as? String == "file")
        #expect(value("limits.login_per_minute")["line"] as? Int == 3)
        #expect(value("tokens.clock_skew")["from"] as? String == "environment")
        #expect(value("state.url")["from"] as? String == "flag")
        #expect(value("sessions.idle")["from"] as? String == "default")
        #expect(
            value("routes[0].require")["value"] as? String == "token" && value("routes[0].require")["line"] as? Int == 5
        )
        #expect(!"\(configuration)".contains("long enough passphrase"))

        #expect(try admin.get("log-level")["level"] as? String == "info")
        let lent = try admin.request("PUT", "/api/admin/log-level", body: #"{"level":"debug","seconds":1}"#)
        #expect(lent.json["level"] as? String == "debug" && lent.json["until"] is String, "\(lent.text)")
        #expect(try await eventually { try admin.get("log-level")["level"] as? String == "info" })
        for body in [#"{"level":"loud"}"#, #"{"level":"debug","seconds":3601}"#, #"{"level":"debug","x":1}"#, "{}"] {
            #expect(try admin.request("PUT", "/api/admin/log-level", body: body).status == 400, "\(body)")
        }

        let file = gateway.directory.appendingPathComponent("gatehouse.yaml")
        try "limits:\n  login_per_minute: 30\n".write(to: file, atomically: true, encoding: .utf8)
        let reloaded = try admin.request("POST", "/api/admin/reload")
        #expect(
            reloaded.status == 200 && reloaded.json["need_restart"] as? [String] == ["audit.file"], "\(reloaded.text)")
        let command = try GatewayProcess.run(
            ["reload", "--config", file.path], in: gateway.directory, stateful: false,
            environment: ["GATEHOUSE_SERVER_ADMIN": "unix:\(path)"])
        #expect(command.status == 0, "\(command)")
        try "limits:\n  login_per_minute: x\n".write(to: file, atomically: true, encoding: .utf8)
        let refused = try admin.request("POST", "/api/admin/reload")
        #expect(refused.status == 409 && (refused.json["detail"] as? String)?.contains("gatehouse.yaml:2") == true)
        let reloads = try admin.get("overview")["reloads"] as? [String: Any]
        #expect((reloads?["last_result"] as? String)?.hasPrefix("refused: ") == true && reloads?["last_at"] is String)
        #expect(
            try await eventually {
                let lines = try Self.auditLines(gateway)
                return lines.contains { $0["event"] as? String == "log_level.changed" && $0["operator"] is String }
                    && lines.contains { $0["event"] as? String == "configuration.reloaded" }
            })
    }

    @Test("What an operator does is in the audit log with the path, which has no id in it")
    func paths() async throws {
        let path = Self.freshPath()
        let gateway = try await GatewayProcess.start(
            "audit: {file: audit.jsonl}\n", users: [.ada], environment: ["GATEHOUSE_SERVER_ADMIN": "unix:\(path)"])
        defer { gateway.stop() }
        let admin = AdminProbe(path: path)
        let ada = try gateway.login(.ada)
        let socket = try gateway.opened("/api/runtime/agent?\(ada.query)")
        #expect(try await eventually { try admin.all("connections", limit: 1).count == 1 })
        let id = try #require(try admin.all("connections", limit: 1).first?["id"] as? String)
        #expect(try admin.request("DELETE", "/api/admin/connections/\(id)").status == 204)
        #expect(try socket.closing() == "4403 ended_by_operator")
        let level = #"{"level":"debug","seconds":1}"#
        #expect(try admin.request("PUT", "/api/admin/log-level", body: level).status == 200)
        #expect(try admin.request("POST", "/api/admin/reload").status == 200)
        #expect(try admin.request("DELETE", "/api/admin/sessions/\(ada.sessionID)").status == 204)
        for (event, path) in [
            ("connection.ended", "connections/{id}"), ("log_level.changed", "log-level"),
            ("configuration.reloaded", "reload"), ("session.ended", "sessions/{id}"),
        ] {
            #expect(
                try await eventually {
                    try Self.auditLines(gateway).contains { line in
                        line["event"] as? String == event && line["path"] as? String == "/api/admin/\(path)"
                            && line["client"] as? String == "unix" && line["request_id"] is String
                    }
                }, "\(event)")
        }
    }

    @Test("The command's token opens it for as long as it lives, and who asked for it is recorded")
    func command() async throws {
        let port = try SocketAddressing.unusedPort()
        let gateway = try await GatewayProcess.start(
            "audit: {file: audit.jsonl}\ntokens: {issuer: 'https://gate.example', clock_skew: 0s}\n", users: [.ada],
            environment: ["GATEHOUSE_SERVER_ADMIN": "127.0.0.1:\(port)"])
        defer { gateway.stop() }
        let options = [
            "--config", gateway.directory.appendingPathComponent("gatehouse.yaml").path, "--keys",
            gateway.directory.appendingPathComponent("keys").path,
        ]
        let made = try GatewayProcess.run(["admin", "token"] + options, in: gateway.directory)
        #expect(made.status == 0, "\(made.errors)")
        let token = made.output.trimmingCharacters(in: .newlines)
        let admin = AdminProbe(port: port, token: token)
        #expect(try admin.get("overview")["ready"] as? Bool == true)
        #expect(claims(of: token)["scope"] as? String == "gatehouse:admin")
        let ada = try gateway.login(.ada)
        #expect(try admin.request("DELETE", "/api/admin/sessions/\(ada.sessionID)").status == 204)
        let lines = try Self.auditLines(gateway)
        #expect(lines.contains { $0["event"] as? String == "admin.token_issued" && $0["operator"] is String })
        #expect(
            try await eventually {
                try Self.auditLines(gateway).contains {
                    ($0["operator"] as? String)?.hasPrefix("cli_operator_") == true
                }
            })
        let brief = try GatewayProcess.run(["admin", "token", "--lifetime", "1s"] + options, in: gateway.directory)
        let short = AdminProbe(port: port, token: brief.output.trimmingCharacters(in: .newlines))
        #expect(
            try await eventually {
                try short.request("GET", "/api/admin/overview").json["code"] as? String == "token_expired"
            })
        let long = try GatewayProcess.run(["admin", "token", "--lifetime", "2h"] + options, in: gateway.directory)
        #expect(long.status == 2 && long.errors.contains("--lifetime"), "\(long.errors)")
    }

    @Test("A refusal is explained by check, key and line, by the API and by 'audit why' alike")
    func why() async throws {
        let path = Self.freshPath()
        let gateway = try await GatewayProcess.start(
            """
            audit: {file: audit.jsonl}
            tokens:
              audience: [orders]
            routes:
              - {path: /o, require: token, upstream: "http://127.0.0.1:1", scopes: [orders:write]}
              - {path: /open, require: none, upstream: "http://127.0.0.1:1"}
              - {path: /host, require: none, upstream: "http://127.0.0.1:1"}
              - {path: /host, host: 127.0.0.1, require: token, upstream: "http://127.0.0.1:1"}
              - {path: /method, methods: [GET], require: none, upstream: "http://127.0.0.1:1"}
              - {path: /method, methods: [POST], require: token, upstream: "http://127.0.0.1:1"}
              - {path: /tools, upstream: "http://127.0.0.1:1", resource: {name: Tools, scopes: [read]}}
            """, users: [.ada], environment: ["GATEHOUSE_SERVER_ADMIN": "unix:\(path)"])
        defer { gateway.stop() }
        let admin = AdminProbe(path: path)
        let ada = try gateway.login(.ada)
        let json = ("Content-Type", "application/json")
        let cases: [(RawResponse, check: String, key: String?, line: Int?)] = [
            (try gateway.request("GET", "/o"), "credentials", "routes[0].require", 5),
            (try gateway.request("GET", "/o", headers: [ada.bearer]), "scope", "routes[0].scopes", 5),
            (try gateway.request("GET", "/o", headers: [("Authorization", "Bearer \(ada.forged)")]), "token", nil, nil),
            (try gateway.request("GET", "/open"), "upstream", "routes[1].upstream", 6),
            (
                try gateway.request(
                    "POST", "/api/auth/login", headers: [json, ("Origin", "https://x.example")], body: "{}"),
                "origin", "server.allowed_origins", nil
            ),
            (try gateway.request("GET", "/none"), "route", nil, nil),
            // Of several routes with a path, the one that the request's host and method chose.
            (try gateway.request("GET", "/host"), "credentials", "routes[3].require", 8),
            (try gateway.request("POST", "/method"), "credentials", "routes[5].require", 10),
            (try gateway.request("GET", "/method"), "upstream", "routes[4].upstream", 9),
            // A token of the audience of the gateway is for no resource.
            (try gateway.request("GET", "/tools", headers: [ada.bearer]), "token", "routes[6].resource", 11),
        ]
        let file = gateway.directory.appendingPathComponent("gatehouse.yaml").path
        for (answer, check, key, line) in cases {
            let id = answer.json["request_id"] as? String ?? ""
            let told = try admin.get("refusals/\(id)")
            let place = told["configuration"] as? [String: Any]
            #expect(told["check"] as? String == check && place?["key"] as? String == key, "\(told)")
            #expect(place?["line"] as? Int == line && (line == nil || place?["file"] as? String == file), "\(told)")
            _ = try await eventually {
                try Self.auditLines(gateway).contains { $0["request_id"] as? String == id }
            }
            let said = try GatewayProcess.run(
                ["audit", "why", id, "--config", file], in: gateway.directory, stateful: false)
            #expect(said.status == 0 && said.output.contains("failed check: \(check)"), "\(said)")
            #expect(key == nil || said.output.contains("decided by: \(key ?? "")"), "\(said.output)")
            #expect(line == nil || said.output.contains("\(file):\(line ?? 0)"), "\(said.output)")
            #expect(said.output.contains("code=\(answer.json["code"] as? String ?? "-")"))
        }
    }

    @Test("'audit why' of a request that is in none of the files exits 1, without a log to look in 2")
    func unknown() throws {
        let place = try GatewayProcess.makeDirectory()
        let (config, log) = (place.appendingPathComponent("g.yaml").path, place.appendingPathComponent("a.jsonl").path)
        try "{}".write(toFile: config, atomically: true, encoding: .utf8)
        try #"{"seq":1,"event":"request.refused","request_id":"req_known","code":"not_found"}"#
            .appending("\n").write(toFile: log, atomically: true, encoding: .utf8)
        func why(_ arguments: String...) throws -> CommandResult {
            try GatewayProcess.run(["audit", "why"] + arguments + ["--config", config], in: place, stateful: false)
        }
        #expect(try why("req_known", log).output.contains("failed check: route"))
        let absent = try why("req_other", log)
        #expect(absent.status == 1 && absent.errors.contains("req_other"), "\(absent)")
        #expect(try why("req_known").status == 2)
        #expect(try why("req_known", "/nowhere").status == 1)
    }
}
