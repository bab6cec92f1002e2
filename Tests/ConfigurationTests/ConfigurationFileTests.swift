import EdgeConfiguration
import Testing

@testable import gatehouse

@Suite("The configuration file")
struct ConfigurationFileTests {
    @Test("A missing default file is fine, and so is an empty one")
    func needsNoFile() throws {
        #expect(try load().configuration == .init())
        #expect(try load().file == nil)
        #expect(try load("").configuration == .init())
        #expect(try load("# nothing but a comment\n").configuration == .init())
        #expect(try load("server:\ntokens:\nroutes:\nissuers: []\n").configuration == .init())
    }

    @Test("A named file that is missing is an error, whether a flag or a variable named it")
    func needsANamedFile() {
        #expect(faults() == ["g.yaml: no such file: correct --config or GATEHOUSE_CONFIG, or create it"])
        #expect(throws: ConfigurationFaults.self) {
            try load(environment: ["GATEHOUSE_CONFIG": "elsewhere.yaml"])
        }
    }

    @Test("An empty variable names no file, and an empty flag is named in the fault")
    func emptyNames() throws {
        let loaded = try load("log: {level: debug}\n", environment: ["GATEHOUSE_CONFIG": ""])
        #expect(loaded.file == "config/gatehouse.yaml")
        let error = #expect(throws: ConfigurationFaults.self) { try load(file: "") }
        let others = "GATEHOUSE_CONFIG or config/gatehouse.yaml"
        #expect(
            error?.faults.map(\.description) == [
                "--config: names no file: give its path, or leave --config out for \(others)"
            ])
    }

    @Test("Every kind of value is read")
    func readsValues() throws {
        let configuration = try load(
            """
            server: {listen: "0.0.0.0:0", threads: 3, admin: off, max_body: 10MiB, trusted_proxies: [10.0.0.0/8]}
            tokens: {issuer: https://auth.example, audience: one, clock_skew: 0s, access_token_lifetime: 1s}
            errors: {explain: yes}
            log: {format: json, level: debug}
            audit: {file: var/audit.jsonl}
            websocket: {refusals: close}
            """
        ).configuration
        #expect(configuration.server.listen == .init(host: "0.0.0.0", port: 0))
        #expect(configuration.server.admin == nil)
        #expect(configuration.server.threads == 3)
        #expect(configuration.server.maxBody == 10 * 1_048_576)
        #expect(configuration.server.trustedProxies == ["10.0.0.0/8"])
        #expect(configuration.tokens.issuer == "https://auth.example")
        #expect(configuration.tokens.audience == ["one"])
        #expect(configuration.tokens.clockSkew == 0)
        #expect(configuration.tokens.accessTokenLifetime == 1_000)
        #expect(configuration.errors.explain)
        #expect(configuration.log.format == .json)
        #expect(configuration.log.level == .debug)
        #expect(configuration.audit.file == "var/audit.jsonl")
        #expect(configuration.webSocket.refusals == .close)
    }

    @Test("An issuer that is not named stays open until the address is bound")
    func leavesTheIssuerOpen() throws {
        #expect(try load("server: {listen: 127.0.0.1:0}").configuration.tokens.issuer == nil)
    }

    @Test(
        "A fault names its place, the key and what was expected",
        arguments: [
            (
                "tokens:\n  clock_skew: 90s\n",
                "g.yaml:2:15: tokens.clock_skew: expected a duration such as 500ms, 30s, 15m, 24h or 30d, "
                    + "from 0s to 1m, found '90s'"
            ),
            (
                "server:\n  threads: many\n",
                "g.yaml:2:12: server.threads: expected a whole number from 1 to 1024, or 'cores', found 'many'"
            ),
            ("server:\n  lisen: a:1\n", "g.yaml:2:3: unknown key 'server.lisen': did you mean 'server.listen'?"),
            ("token: {}\n", "g.yaml:1:1: unknown key 'token': did you mean 'tokens'?"),
            ("route: []\n", "g.yaml:1:1: unknown key 'route': did you mean 'routes'?"),
            (
                "server: {clock_skew: 3s}\n",
                "g.yaml:1:10: unknown key 'server.clock_skew': did you mean 'tokens.clock_skew'?"
            ),
            (
                "tokens.clock_skew: 3s\n",
                "g.yaml:1:1: unknown key 'tokens.clock_skew': write 'clock_skew' below 'tokens'"
            ),
            ("server: {listen: }\n", "g.yaml:1:18: server.listen: has no value"),
            ("server: 3\n", "g.yaml:1:9: server: expected keys below it, one a line"),
            ("server: {hosts: a}\n", "g.yaml:1:17: server.hosts: expected a list, such as [a, b]"),
            ("- a\n", "g.yaml:1:1: expected sections such as 'server:' at the left margin"),
            (
                "errors: {explain: 1}\n",
                "g.yaml:1:19: errors.explain: expected true or false, found '1'"
            ),
            ("tokens: {audience: []}\n", "g.yaml:1:20: tokens.audience: expected at least one name"),
            (
                "server: {listen: 'a:1', admin: 'a:1'}\n",
                "g.yaml:1:32: server.admin: must not be the public listener: use another port or path"
            ),
            (
                "server:\n  listen: unix:/g.sock\n  admin: unix:/g.sock\n",
                "g.yaml:3:10: server.admin: must not be the public listener: use another port or path"
            ),
            (
                "server:\n  listen: unix:g.sock\n",
                "g.yaml:2:11: server.listen: expected HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080, "
                    + "or unix:/PATH of at most 107 bytes, found 'unix:g.sock'"
            ),
            (
                "server: {proxy_protocol: true}\n",
                "g.yaml:1:26: server.proxy_protocol: needs server.trusted_proxies: without it every connection is reset; "
                    + "list the balancers"
            ),
            (
                "server: {tls: {certificate: a.pem}}\n",
                "g.yaml:1:29: server.tls: TLS needs both 'certificate' and 'key': add the other, or remove both"
            ),
        ])
    func namesFaults(yaml: String, fault: String) {
        #expect(faults(yaml) == [fault])
    }

    @Test("Every fault is told, not only the first")
    func tellsAllFaults() {
        #expect(faults("server: {threads: x, drain: y}\nlog: {level: loud}\n").count == 3)
    }

    @Test("A file that is no YAML is told by place, and none of it is quoted")
    func hidesBrokenFiles() throws {
        for yaml in [
            "state:\n  url: postgres://u:hunter2@h/d\n  grace: 1s\n  grace: 2s\n",
            "state: {url: 'postgres://u:hunter2@h/d\n", "hunter2: [\n", "state:\n\turl: hunter2\n",
        ] {
            let fault = try #require(faults(yaml).first)
            #expect(fault.hasPrefix("g.yaml:"))
            #expect(!fault.contains("u:hunter2") && !fault.contains("\n"))
        }
        #expect(faults("a: 1\na: 2\n").first?.contains("'a' more than once") == true)
    }

    @Test("A value that may hold a password is not repeated")
    func hidesSecrets() throws {
        let fault = try #require(faults("state: {url: 'mysql://u:hunter2@h/d'}").first)
        #expect(fault.contains("expected sqlite:PATH"))
        #expect(!fault.contains("hunter2"))
    }

    @Test("Control characters of a value do not reach the terminal")
    func escapesValues() throws {
        let fault = try #require(faults("log: {level: \"\\e[31m\"}").first)
        #expect(!fault.contains("\u{1B}"))
    }

    @Test("A file that is not UTF-8 or far too large is refused")
    func refusesOddFiles() {
        let loader = { (bytes: [UInt8]) in
            ConfigurationLoader(environment: [:]) { _ throws(ConfigurationFault) in bytes }
        }
        #expect(throws: ConfigurationFaults.self) { try loader([0x61, 0x3A, 0xFF]).load() }
        #expect(throws: ConfigurationFaults.self) {
            try loader([UInt8](repeating: 0x23, count: FileValue.maximumBytes + 1)).load()
        }
    }
}
