import BasicsForTests
import Foundation
import Testing

/// What an operator mistypes or asks for in the wrong order is told in one line, and breaks nothing.
@Suite(.blocking) struct OperatorTests {
    private static func json(_ result: CommandResult) throws -> [[String: Any]] {
        try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [[String: Any]] ?? []
    }

    @Test("A command that only looks or changes makes no store where none is")
    func missingStore() throws {
        let place = try GatewayProcess.makeDirectory()
        let commands = [
            ["users", "list"], ["users", "disable", "ada@example.com"], ["clients", "list"], ["sessions", "list"],
            ["sessions", "end", "ses_x"],
        ]
        for command in commands {
            let result = try GatewayProcess.run(
                command + ["--state", "sqlite:\(place.path)/typo/x.sqlite"], in: place, stateful: false)
            #expect(result.status == 1 && result.output.isEmpty, "\(command)")
            #expect(result.errors.contains("no store at") && result.errors.filter { $0 == "\n" }.count == 1)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).isEmpty)
        let added = try GatewayProcess.run(
            ["users", "add", "ada@example.com", "--tenant", "acme", "--password-stdin"], in: place,
            input: "correct horse")
        #expect(added.status == 0, "\(added.errors)")
        #expect(try Self.json(GatewayProcess.run(["users", "list", "--json"], in: place)).count == 1)
    }

    @Test("An unknown id among sessions to end keeps none of the others alive")
    func endsTheOthers() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n")
        defer { gateway.stop() }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        let unknown = "ses_\(String(repeating: "A", count: 22))"
        let result = try GatewayProcess.run(
            ["sessions", "end", ada.sessionID, unknown, bob.sessionID], in: gateway.directory)
        #expect(result.status == 1 && result.errors.contains("id number 2:"), "\(result.errors)")
        for user in [ada, bob] {
            #expect(try await eventually { try !gateway.isHealthy(user.token) })
        }
    }

    @Test("Name and groups of an account are given when it is added, and replaced one by one")
    func profile() throws {
        let place = try GatewayProcess.makeDirectory()
        func users(_ arguments: String..., input: String = "") throws -> CommandResult {
            try GatewayProcess.run(["users"] + arguments, in: place, input: input)
        }
        func listed() throws -> String {
            let row = try #require(try Self.json(users("list", "--json")).first)
            let groups = row["groups"] as? [String] ?? ["none listed"]
            return "\(row["name"] as? String ?? "-") \(groups.joined(separator: ","))"
        }
        let made = try users(
            "add", "ada@example.com", "--tenant", "acme", "--name", "Ada", "--group", "staff", "--group", "admins",
            "--group", "staff", "--password-stdin", input: "correct horse\n")
        #expect(made.status == 0, "\(made.errors)")
        #expect(try listed() == "Ada staff,admins")
        #expect(try users("set", "ada@example.com", "--group", "night shift").status == 0)
        #expect(try listed() == "Ada night shift")
        #expect(try users("set", "ada@example.com", "--tenant", "acme", "--name", "Countess").status == 0)
        #expect(try listed() == "Countess night shift")
        #expect(try users("set", "ada@example.com", "--no-groups", "--name", "").status == 0)
        #expect(try listed() == "- ")
        for wrong in [["--group", String(repeating: "g", count: 129)], ["--name", "a\u{7}b"], ["--group", ""]] {
            let refused = try GatewayProcess.run(["users", "set", "ada@example.com"] + wrong, in: place)
            #expect(refused.status == 2 && refused.errors.filter { $0 == "\n" }.count == 1, "\(wrong)")
        }
        #expect(try users("set", "ada@example.com").status != 0)
        #expect(try users("set", "bob@example.com", "--name", "B").status == 1)
        #expect(try listed() == "- ")
    }

    @Test("An account that was disabled can be enabled again; what ended stays ended")
    func enable() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let before = try gateway.login(.ada)
        func users(_ verb: String) throws -> CommandResult {
            try GatewayProcess.run(["users", verb, TestUser.ada.email, "--tenant", "acme"], in: gateway.directory)
        }
        #expect(try users("disable").status == 0)
        #expect(try await eventually { try gateway.attemptLogin(.ada).status == 401 })
        #expect(try users("enable").status == 0)
        #expect(try users("enable").errors.contains("was not disabled"))
        // A token's time is told in whole seconds, and all of the second in which it was disabled are dead.
        let isBack = try await eventually { try gateway.isHealthy(gateway.login(.ada).token) }
        #expect(try isBack && !gateway.isHealthy(before.token))
    }

    @Test("A disabled client is refused, and its tokens with it")
    func disableClient() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let added = try GatewayProcess.run(
            ["clients", "add", "ci", "--tenant", "acme", "--json"], in: gateway.directory)
        let client = try JSONSerialization.jsonObject(with: Data(added.output.utf8)) as? [String: Any] ?? [:]
        let id = try #require(client["client_id"] as? String)
        let pair = "\(id):\(client["client_secret"] as? String ?? "")"
        let basic = ("Authorization", "Basic " + Data(pair.utf8).base64EncodedString())
        func token() throws -> RawResponse {
            try gateway.form("/oauth2/token", [("grant_type", "client_credentials")], headers: [basic])
        }
        let granted = try token().json["access_token"] as? String ?? ""
        #expect(try gateway.isHealthy(granted))
        #expect(try GatewayProcess.run(["clients", "disable", id], in: gateway.directory).status == 0)
        #expect(try await eventually { try !gateway.isHealthy(granted) })
        #expect(try token().status == 401)
        let rows = try Self.json(GatewayProcess.run(["clients", "list", "--json"], in: gateway.directory))
        #expect(rows.first?["disabled"] as? Bool == true)
        let unknown = try GatewayProcess.run(["clients", "disable", "cli_none"], in: gateway.directory)
        #expect(unknown.status == 1 && unknown.errors.contains("clients list"))
    }

    @Test("A token that is issued for a user says the tenant of the account, unless another one is named")
    func issue() async throws {
        let gateway = try await GatewayInProcess.start("", users: [.ada])
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let keys = ["--keys", gateway.directory.appendingPathComponent("keys").path]
        func tenant(_ arguments: String..., stateful: Bool = true) throws -> String? {
            let result = try GatewayProcess.run(
                ["token", "issue"] + arguments + keys, in: gateway.directory, stateful: stateful)
            #expect(result.status == 0, "\(result.errors)")
            return claims(of: result.output.trimmingCharacters(in: .newlines))["tenant_id"] as? String
        }
        #expect(try tenant("--subject", ada.userID) == "acme")
        #expect(try tenant("--subject", ada.userID, "--tenant", "other") == "other")
        #expect(try tenant("--subject", "usr_unknown") == "default")
        #expect(try tenant("--subject", ada.userID, stateful: false) == "default", "no store is there")
    }

    @Test("Introspection is attacked as a client: without one the command says what is missing")
    func introspection() throws {
        let place = try GatewayProcess.makeDirectory()
        let result = try GatewayProcess.run(
            ["attack", "http://127.0.0.1:1", "--transport", "introspection", "--token", "a.b.c"], in: place,
            stateful: false)
        #expect(result.status == 2 && result.errors.contains("GATEHOUSE_ATTACK_CLIENT"), "\(result.errors)")
    }

    @Test("config check finds what serve could not begin with")
    func check() throws {
        let place = try GatewayProcess.makeDirectory()
        let file = place.appendingPathComponent("gatehouse.yaml")
        func check(_ yaml: String) throws -> CommandResult {
            try yaml.write(to: file, atomically: true, encoding: .utf8)
            return try GatewayProcess.run(["config", "check", "--config", file.path], in: place, stateful: false)
        }
        let missing = try check("server: {tls: {certificate: none.pem, key: none.key}}\n")
        #expect(missing.status == 2 && missing.errors.contains("server.tls.certificate: none.pem: no such file"))
        try "rubbish".write(to: place.appendingPathComponent("bad.pem"), atomically: true, encoding: .utf8)
        let bad = try check("server: {tls: {certificate: bad.pem, key: bad.pem}}\n")
        #expect(bad.status == 2 && bad.errors.contains("server.tls.key: bad.pem: expected a PEM private key"))
        let proxy = try check("server: {proxy_protocol: true}\n")
        #expect(proxy.status == 2 && proxy.errors.contains("server.trusted_proxies"))
        #expect(try check("server: {proxy_protocol: true, trusted_proxies: [10.0.0.0/8]}\n").status == 0)
        let dead = try check("routes:\n  - {path: /api/session/x, upstream: 'http://a:1'}\n")
        #expect(dead.status == 2 && dead.errors.contains("keeps this path"))
        #expect(try check("routes:\n  - {path: /api, upstream: 'http://a:1'}\n").status == 0)
    }

    @Test("config check and serve find a key set of an issuer that is not there or is none, and name its line")
    func issuerFiles() throws {
        let place = try GatewayProcess.makeDirectory()
        let file = place.appendingPathComponent("gatehouse.yaml")
        try """
        issuers:
          - issuer: https://id.example
            jwks: keys.json
            audience: [gatehouse]
            tenants: [acme]
        """.write(to: file, atomically: true, encoding: .utf8)
        for (content, said) in [(nil, "no such file"), ("{}", "key set"), ("rubbish", "key set")] as [(String?, String)]
        {
            try content?.write(to: place.appendingPathComponent("keys.json"), atomically: true, encoding: .utf8)
            for command in [["config", "check"], ["serve", "--listen", "127.0.0.1:0", "--admin", "off"]] {
                let result = try GatewayProcess.run(command + ["--config", file.path], in: place, stateful: false)
                #expect(result.status == 2 && result.errors.contains("gatehouse.yaml:3:"), "\(result)")
                #expect(result.errors.contains("issuers[0].jwks: keys.json: ") && result.errors.contains(said))
            }
        }
    }

    @Test("A wrong configuration is told before a password is asked for", arguments: [["add"], ["password"]])
    func askedFirst(verb: [String]) throws {
        let place = try GatewayProcess.makeDirectory()
        let file = place.appendingPathComponent("gatehouse.yaml")
        try "tokens: {clock_skew: 90s}\n".write(to: file, atomically: true, encoding: .utf8)
        // Without --password-stdin and without a terminal, asking is a failure of its own.
        let result = try GatewayProcess.run(
            ["users"] + verb + ["ada@example.com", "--config", file.path], in: place)
        #expect(result.status == 2 && result.errors.contains("tokens.clock_skew"), "\(result)")
    }

    @Test("The process may open as many descriptors as the system allows, and leaves no core dump")
    func limits() async throws {
        let gateway = try await GatewayProcess.start("", users: [])
        defer { gateway.stop() }
        let text = try String(contentsOfFile: "/proc/\(gateway.processID)/limits", encoding: .utf8)
        func limit(_ name: String) -> [Substring] {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
            return Array(line.dropFirst(name.count).split(separator: " ").prefix(2))
        }
        #expect(limit("Max core file size") == ["0", "0"], "\(text)")
        let files = limit("Max open files")
        #expect(files.count == 2 && files.first == files.last, "\(text)")
    }

    @Test("An address that can't be listened on is told in a plain sentence, and so is a damaged store")
    func sentences() throws {
        let place = try GatewayProcess.makeDirectory()
        // TEST-NET-1 (RFC 5737): an address without a host.
        let serve = try GatewayProcess.run(["serve", "--listen", "192.0.2.1:8080", "--admin", "off"], in: place)
        #expect(serve.status == 1 && serve.errors.contains("192.0.2.1:8080 is no address of this machine"))
        #expect(!serve.errors.contains("errno") && !serve.errors.contains("bind("))
        let state = place.appendingPathComponent("broken.sqlite")
        try "this is no database at all".write(to: state, atomically: true, encoding: .utf8)
        let broken = try GatewayProcess.run(
            ["users", "list", "--state", "sqlite:\(state.path)"], in: place, stateful: false)
        #expect(broken.status == 1 && broken.errors.components(separatedBy: "restore").count == 2, "\(broken.errors)")
        #expect(broken.errors.components(separatedBy: "move it away").count == 2)
        let away = try GatewayProcess.run(
            ["users", "list", "--state", "postgres://u:hunter2@127.0.0.1:1/x"], in: place, stateful: false)
        #expect(away.status == 1 && away.errors.contains("Connection refused: is it running"), "\(away.errors)")
        #expect(!away.errors.contains("hunter2") && away.errors.filter { $0 == "?" }.count == 1)
    }
}
