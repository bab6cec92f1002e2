import BasicsForTests
import Foundation
import Testing

/// The command line: what it prints where, how it ends, and that a running gateway obeys it.
@Suite(.blocking) struct CLITests {
    static func run(_ arguments: String..., input: String = "") throws -> CommandResult {
        try GatewayProcess.run(
            arguments, in: FileManager.default.temporaryDirectory, input: input, stateful: false)
    }

    /// Checks a failure: its status, one line on standard error, nothing on standard output.
    static func expectFailure(
        _ result: CommandResult, _ status: Int32, _ words: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(result.status == status && result.output.isEmpty, "\(result)", sourceLocation: sourceLocation)
        #expect(result.errors.filter { $0 == "\n" }.count == 1, "\(result.errors)", sourceLocation: sourceLocation)
        for word in words { #expect(result.errors.contains(word), "\(result.errors)", sourceLocation: sourceLocation) }
    }

    @Test("Wrong usage exits 2; a gateway that can't start says why in one line and exits with a fault")
    func usage() async throws {
        Self.expectFailure(try Self.run("frobnicate"), 2, "frobnicate")
        Self.expectFailure(try Self.run("serve", "--frobnicate"), 2, "--frobnicate")
        #expect(try Self.run("--help").status == 0)
        Self.expectFailure(try Self.run("help", "frobnicate"), 2, "frobnicate")
        #expect(try Self.run("help", "token", "verify").status == 0)
        Self.expectFailure(try Self.run("users"), 2, "disable, enable")
        Self.expectFailure(try Self.run("users", "passkeys"), 2, "list, remove")
        Self.expectFailure(try Self.run("keys", "list", "--keys", "/nowhere"), 1, "/nowhere", "keys generate")
        Self.expectFailure(try Self.run("keys", "rotate", "--keys", "/nowhere"), 1, "/nowhere", "keys generate")
        Self.expectFailure(try Self.run("state", "restore", "x", "--config", "/nowhere.yaml"), 2, "/nowhere.yaml")
        Self.expectFailure(try Self.run("serve", "--config", "/nowhere.yaml"), 2, "/nowhere.yaml", "no such file")
        Self.expectFailure(try Self.run("serve", "--listen", "nonsense"), 2, "--listen")
        Self.expectFailure(try Self.run("serve", "--state", "mongodb://x"), 2, "--state")

        let place = try GatewayProcess.makeDirectory()
        let file = place.appendingPathComponent("bad.yaml")
        try "server:\n  listn: 127.0.0.1:1\n".write(to: file, atomically: true, encoding: .utf8)
        Self.expectFailure(try Self.run("serve", "--config", file.path), 2, "bad.yaml:2", "server.listen")
        Self.expectFailure(try Self.run("config", "check", "--config", file.path), 2, "server.listen")
        try "tokens:\n  clock_skew: 1 banana\n".write(to: file, atomically: true, encoding: .utf8)
        Self.expectFailure(try Self.run("config", "check", "--config", file.path), 2, "bad.yaml:2", "1 banana")
        try "tokens:\n  clock_skew: 10s\n".write(to: file, atomically: true, encoding: .utf8)
        #expect(try Self.run("config", "check", "--config", file.path).status == 0)
    }

    @Test(
        "A file that the configuration names and that is not there is a fault of its key, for every command alike",
        arguments: ["keys: {passphrase_file: nowhere}", "clients: {ca: nowhere}", "clients: {ca: gatehouse.yaml}"])
    func namedFiles(yaml: String) throws {
        let place = try GatewayProcess.makeDirectory()
        let file = place.appendingPathComponent("gatehouse.yaml")
        // A store that can't be opened, so that a gateway that finds no fault in the file ends as well.
        try "# one\nstate: {url: 'sqlite:/proc/nowhere'}\n\(yaml)\n".write(to: file, atomically: true, encoding: .utf8)
        for command in [["config", "check"], ["doctor"], ["serve"]] {
            let result = try GatewayProcess.run(
                command + ["--config", file.path], in: place, stateful: false)
            let said = result.output + result.errors
            #expect(result.status == 2 && said.contains("gatehouse.yaml:3:"), "\(command): \(result)")
        }
    }

    @Test(
        "config show says which issuer the tokens have where none is configured",
        arguments: [
            ("server: {listen: '127.0.0.1:8443'}", "issuer: http://127.0.0.1:8443"),
            (
                "server: {listen: '127.0.0.1:8443', tls: {certificate: c.pem, key: k.pem}}",
                "issuer: https://127.0.0.1:8443"
            ),
            ("tokens: {issuer: 'https://auth.example'}", "issuer: https://auth.example"),
        ])
    func shownIssuer(yaml: String, line: String) throws {
        let place = try GatewayProcess.makeDirectory()
        let file = place.appendingPathComponent("gatehouse.yaml")
        try "\(yaml)\n".write(to: file, atomically: true, encoding: .utf8)
        let shown = try GatewayProcess.run(["config", "show", "--config", file.path], in: place, stateful: false)
        #expect(shown.status == 0 && shown.output.contains(line), "\(shown)")
    }

    @Test("An error does not repeat a token or a password that stands in the wrong place")
    func secretsInErrors() throws {
        let token = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c3JfQSJ9.c2lnbmF0dXJl"
        for arguments in [
            ["token", "inspect", token, token], ["token", token], [token], ["token", "verify", "--key", token, token],
            ["users", "password", "ada@example.com", "hunter2secret"],
        ] {
            let result = try GatewayProcess.run(
                arguments, in: FileManager.default.temporaryDirectory, stateful: false)
            #expect(result.status != 0 && !result.errors.isEmpty)
            for secret in [token, "hunter2secret"] { #expect(!result.errors.contains(secret), "\(arguments)") }
        }
    }

    @Test("A result that can't be written is a failure, and no file takes the place of a stream that is closed")
    func streams() throws {
        let place = try GatewayProcess.makeDirectory()
        try "keys: {directory: keys}\naudit: {file: audit.jsonl}\n".write(
            to: place.appendingPathComponent("g.yaml"), atomically: true, encoding: .utf8)
        func run(_ command: String, _ redirection: String) throws -> Int32 {
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.currentDirectoryURL = place
            shell.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("GATEHOUSE_") }
            shell.arguments = [
                "-c", "exec \"$0\" \(command) --config g.yaml \(redirection)", GatewayProcess.binary.path,
            ]
            try Program.start(shell) {}
            shell.waitUntilExit()
            return shell.terminationStatus
        }
        #expect(try run("config show", ">/dev/full 2>/dev/null") == 1)
        #expect(try run("config show", ">/dev/null 2>&1") == 0)
        #expect(try run("config show", ">&- 2>errors") == 1)
        let errors = try String(contentsOf: place.appendingPathComponent("errors"), encoding: .utf8)
        #expect(errors.contains("standard output") && errors.filter { $0 == "\n" }.count == 1, "\(errors)")
        for redirection in [">&- 2>/dev/null", ">&- 2>&-", "<&- >&- 2>&-"] {
            #expect(try run("keys generate", redirection) == 0)
        }
        let log = place.appendingPathComponent("audit.jsonl")
        #expect(try String(contentsOf: log, encoding: .utf8).split(separator: "\n").count == 3)
        #expect(try GatewayProcess.run(["audit", "verify", log.path], in: place, stateful: false).status == 0)
    }

    @Test("A result is whole in an output that doesn't block, when its reader comes late")
    func slowReader() async throws {
        let process = Process()
        process.executableURL = GatewayProcess.binary
        process.arguments = ["attack", "--list", "--json"]
        let output = try Program.start(process) {
            let output = Pipe()
            let end = output.fileHandleForWriting.fileDescriptor
            _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
            // F_SETPIPE_SZ: far less room than the result needs.
            _ = fcntl(end, 1031, 4_096)
            process.standardOutput = output
            return output
        }
        let reader = output.fileHandleForReading.fileDescriptor
        let isFull = try await eventually {
            var waiting: CInt = 0
            return ioctl(reader, UInt(FIONREAD), &waiting) == 0 && waiting >= 4_096
        }
        #expect(isFull)
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let whole = try Self.run("attack", "--list", "--json").output
        #expect(whole.utf8.count > 4_096 && String(decoding: text, as: UTF8.self) == whole)
    }

    @Test("A state file may have a name of any length", arguments: ["x", "é", "./x", "folder/x", "a//x"])
    func stateFileName(name: String) throws {
        let place = try GatewayProcess.makeDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        let added = try GatewayProcess.run(
            ["users", "add", "ada@example.com", "--tenant", "acme", "--password-stdin", "--state", "sqlite:\(name)"],
            in: place, input: "correct horse battery", stateful: false)
        #expect(added.status == 0, "\(added.errors)")
        #expect(FileManager.default.fileExists(atPath: place.appendingPathComponent(name).path))
    }

    @Test("A port in use and a key that can't be read are told in one sentence")
    func start() async throws {
        let gateway = try await GatewayProcess.start("", users: [])
        defer { gateway.stop() }
        func serve(_ listen: String, keys: String) throws -> CommandResult {
            try GatewayProcess.run(
                ["serve", "--listen", listen, "--admin", "off", "--keys", keys], in: gateway.directory)
        }
        let keys = gateway.directory.appendingPathComponent("keys").path
        let busy = try serve("127.0.0.1:\(gateway.port)", keys: keys)
        Self.expectFailure(busy, 1, "in use", "--listen")
        let broken = try GatewayProcess.makeDirectory().appendingPathComponent("keys")
        try FileManager.default.copyItem(atPath: keys, toPath: broken.path)
        for name in try FileManager.default.contentsOfDirectory(atPath: broken.path) where name.hasSuffix(".pem") {
            try Data("garbage".utf8).write(to: broken.appendingPathComponent(name))
        }
        Self.expectFailure(try serve("127.0.0.1:0", keys: broken.path), 1, ".pem")
        expectStatus(try gateway.request("GET", "/.well-known/jwks.json"), 200)
    }

    @Test("Users are added with their password on standard input, listed as JSON, and found by name or id")
    func users() async throws {
        let place = try GatewayProcess.makeDirectory()
        func users(_ arguments: String..., input: String = "") throws -> CommandResult {
            try GatewayProcess.run(["users"] + arguments, in: place, input: input)
        }
        let added = try users("add", "ada@example.com", "--tenant", "acme", "--password-stdin", input: "two lines\n\n")
        #expect(added.status == 0 && added.output.hasPrefix("usr_") && added.output.hasSuffix("\n"))
        #expect(added.output.filter { $0 == "\n" }.count == 1, "standard output carries the id alone")
        Self.expectFailure(
            try users("add", "ada@example.com", "--tenant", "acme", "--password-stdin", input: "x\n"), 1, "users list")
        for input in ["", "\n", String(repeating: "x", count: 2000)] {
            Self.expectFailure(
                try users("add", "b@example.com", "--tenant", "acme", "--password-stdin", input: input), 1, "password")
        }
        let nameless = try users("add", "nobody", "--tenant", "acme", "--password-stdin", input: "abc")
        Self.expectFailure(nameless, 2, "e-mail")
        Self.expectFailure(try users("disable", "nobody@example.com"), 1, "users list")
        let list = try users("list", "--json").output
        let rows = try JSONSerialization.jsonObject(with: Data(list.utf8)) as? [[String: Any]]
        let id = added.output.trimmingCharacters(in: .newlines)
        #expect(rows?.count == 1 && rows?.first?["user_id"] as? String == id)
        #expect(rows?.first?.keys.contains { $0.contains("password") || $0.contains("hash") } == false)

        let gateway = try await GatewayProcess.start("", users: [], directory: place)
        defer { gateway.stop() }
        let both = TestUser(email: "ada@example.com", password: "two lines\n", tenant: "acme")
        expectStatus(try gateway.attemptLogin(both), 200, "one final newline is dropped, not two")
    }

    @Test("What the command line ends has ended in a running gateway within a second")
    func obeyed() async throws {
        let gateway = try await GatewayProcess.start("limits:\n  enabled: false\n")
        defer { gateway.stop() }
        // A second is promised; the machine that runs the tests may be busy.
        func refused(_ user: LoggedIn) async throws -> Bool {
            try await eventually { try gateway.me(user.token).code == "invalid_token" }
        }
        let (ada, bob, eve) = (try gateway.login(.ada), try gateway.login(.bob), try gateway.login(.eve))
        let ended = try GatewayProcess.run(["sessions", "end", ada.sessionID], in: gateway.directory)
        #expect(ended.status == 0)
        #expect(try await refused(ada))
        expectRefused(try gateway.current(ada.sessionSecret), 410, "session_ended")
        let changed = try GatewayProcess.run(
            ["users", "password", bob.userID, "--password-stdin"], in: gateway.directory, input: "another one\n")
        #expect(changed.status == 0)
        #expect(try await refused(bob))
        expectRefused(try gateway.attemptLogin(.bob), 401, "invalid_credentials")
        #expect(try gateway.isHealthy(eve.token))
        let disabled = try GatewayProcess.run(["users", "disable", TestUser.eve.email], in: gateway.directory)
        #expect(disabled.status == 0)
        #expect(try await refused(eve))
        expectRefused(try gateway.refresh(eve.refreshToken), 401, "invalid_grant")
        expectStatus(try gateway.attemptLogin(.ada), 200)
        let unknown = "ses_\(String(repeating: "A", count: 22))"
        Self.expectFailure(try GatewayProcess.run(["sessions", "end", unknown], in: gateway.directory), 1)
        let list = try GatewayProcess.run(["sessions", "list", "--json"], in: gateway.directory)
        let rows = try JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]]
        #expect(rows?.count == 1 && !list.output.contains("secret"))
    }
}
