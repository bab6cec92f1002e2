import EdgeConfiguration
import Encodings
import StateSurface
import Testing

@testable import gatehouse

@Suite("What the doctor says of a deployment") struct DoctorJudgementTests {
    private static let now: Int64 = 1_800_000_000_000
    private static let yaml = """
        server:
          listen: 10.0.0.5:443
          admin: 127.0.0.1:9180
          tls: {certificate: c.pem, key: k.pem}
          trusted_proxies: [10.9.9.9]
        tokens: {issuer: https://auth.example}
        state: {url: postgres://gatehouse:hidden@db/gatehouse}
        audit: {file: audit.jsonl}
        """

    /// A deployment that is in order.
    private static func healthy() -> DoctorFacts {
        var seen = StoreInspection(version: StoreInspection.knownVersion, isWritable: true)
        seen.clockOffset = 40
        seen.connections = 20
        seen.settings = [
            "fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "max_connections": "100",
            "superuser_reserved_connections": "3",
        ]
        var facts = DoctorFacts(now: now, store: .seen(seen))
        facts.file = .init(path: "g.yaml", mode: 0o640, isReadable: true)
        facts.keys.directory = .init(path: "keys", mode: 0o700, isReadable: true)
        facts.keys.files = [.init(path: "keys/a.pem", mode: 0o600, isReadable: true)]
        facts.certificate = .init(
            names: ["auth.example", "*.auth.example"], notBefore: now / 1_000 - 100, notAfter: now / 1_000 + 60 * 86_400
        )
        facts.issuer = .answered(status: 200, body: Array(#"{"issuer":"https://auth.example"}"#.utf8))
        facts.gateway = .init(
            readiness: 200,
            samples: [
                "process_max_fds": 1_000_000, "process_open_fds": 100, #"gatehouse_upstream_up{upstream="a:1"}"#: 1,
                #"gatehouse_build_info{version="\#(Version.current)"}"#: 1,
            ])
        facts.audit = .whole(lines: 7)
        facts.disks = [.init(keys: ["audit.file"], device: 1, path: ".", free: 50 << 30, total: 100 << 30)]
        return facts
    }

    private static func findings(
        _ yaml: String = yaml, _ facts: DoctorFacts = healthy()
    ) throws -> [DoctorFinding] {
        DoctorJudgement(loaded: try load(yaml, file: "g.yaml"), facts: facts).findings
    }

    /// One thing that is amiss: how it came about, and what is said of it.
    struct Fault: Sendable, CustomTestStringConvertible {
        let level: DoctorFinding.Level
        let check: String
        let key: String
        let words: String
        let change: @Sendable (inout DoctorFacts) -> Void

        init(
            _ level: DoctorFinding.Level, _ check: String, _ key: String, _ words: String,
            _ change: @escaping @Sendable (inout DoctorFacts) -> Void
        ) {
            (self.level, self.check, self.key, self.words, self.change) = (level, check, key, words, change)
        }

        var testDescription: String { "\(check): \(words)" }

        /// The same for what the store said.
        static func store(
            _ level: DoctorFinding.Level, _ check: String, _ key: String, _ words: String,
            _ change: @escaping @Sendable (inout StoreInspection) -> Void
        ) -> Fault {
            Fault(level, check, key, words) { facts in
                guard case .seen(var seen) = facts.store else { return }
                change(&seen)
                facts.store = .seen(seen)
            }
        }
    }

    @Test("A deployment in order has no fault and no note")
    func healthyDeployment() throws {
        let amiss = try Self.findings().filter { $0.level != .good }
        #expect(amiss.isEmpty, "\(amiss)")
    }

    @Test("Each fault is found, once, with its key", arguments: faults)
    func fault(_ fault: Fault) throws {
        var facts = Self.healthy()
        fault.change(&facts)
        let amiss = try Self.findings(Self.yaml, facts).filter { $0.level != .good }
        #expect(amiss.count == 1, "\(amiss)")
        let found = try #require(amiss.first)
        #expect(found.level == fault.level && found.check == fault.check && found.key == fault.key, "\(found)")
        #expect(found.message.contains(fault.words), "\(found.message)")
    }

    private static let faults: [Fault] = [
        Fault(.wrong, "config", "state.url", "everyone can read") {
            $0.file = .init(path: "g.yaml", mode: 0o644, isReadable: true)
        },
        Fault(.wrong, "keys", "keys.directory", "can be read by others") {
            $0.keys.files = [.init(path: "keys/a.pem", mode: 0o640, isReadable: true)]
        },
        Fault(.wrong, "keys", "keys.directory", "can't be read by this user") {
            $0.keys.files = [.init(path: "keys/a.pem", mode: 0o600, isReadable: false)]
        },
        Fault(.wrong, "keys", "keys.directory", "can put keys into") {
            $0.keys.directory = .init(path: "keys", mode: 0o777, isReadable: true)
        },
        Fault(.note, "keys", "keys.directory", "does not exist") { $0.keys.directory = nil },
        Fault(.wrong, "store", "state.url", "refused") { $0.store = .failed("refused") },
        Fault(.note, "store", "state.url", "no store at x") { $0.store = .missing(path: "x") },
        Fault.store(.wrong, "store", "state.url", "this program knows") { $0.version = 9_999 },
        Fault.store(.note, "store", "state.url", "version 1,") { $0.version = 1 },
        Fault.store(.note, "store", "state.url", "no tables") { $0.version = nil },
        Fault.store(.wrong, "store", "state.url", "may not write") { $0.isWritable = false },
        Fault.store(.wrong, "clock", "tokens.clock_skew", "31 s apart") { $0.clockOffset = -31_000 },
        Fault.store(.wrong, "postgres", "state.url", "fsync is off") { $0.settings["fsync"] = "off" },
        Fault.store(.wrong, "postgres", "state.url", "full_page_writes is off") {
            $0.settings["full_page_writes"] = "off"
        },
        Fault.store(.note, "postgres", "state.url", "synchronous_commit") { $0.settings["synchronous_commit"] = "off" },
        Fault.store(.note, "postgres", "state.url", "connections are in use") { $0.connections = 90 },
        Fault(.note, "gateway", "server.admin", "no gateway answers") { $0.gateway = nil },
        Fault(.wrong, "gateway", "", "not ready") { $0.gateway?.readiness = 503 },
        Fault(.wrong, "gateway", "routes", #"upstream="a:1""#) {
            $0.gateway?.samples[#"gatehouse_upstream_up{upstream="a:1"}"#] = 0
        },
        Fault(.note, "gateway", "", "another version") {
            $0.gateway?.samples = [
                "process_max_fds": 1_000_000, "process_open_fds": 1, #"gatehouse_build_info{version="9"}"#: 1,
            ]
        },
        Fault(.note, "gateway", "log.access", "dropped 5") {
            $0.gateway?.samples[#"gatehouse_log_lines_dropped_total{log="access"}"#] = 5
        },
        Fault(.wrong, "limits", "", "descriptors are open") { $0.gateway?.samples["process_open_fds"] = 900_000 },
        Fault(.note, "limits", "", "at most 1024") { $0.gateway?.samples["process_max_fds"] = 1_024 },
        Fault(.wrong, "issuer", "tokens.issuer", "can't be reached") { $0.issuer = .failed("no answer") },
        Fault(.wrong, "issuer", "tokens.issuer", "no gateway (status 404)") {
            $0.issuer = .answered(status: 404, body: [])
        },
        Fault(.wrong, "issuer", "tokens.issuer", "calls itself https://other.example") {
            $0.issuer = .answered(status: 200, body: Array(#"{"issuer":"https://other.example"}"#.utf8))
        },
        Fault(.wrong, "tls", "server.tls.certificate", "has expired") { $0.certificate?.notAfter = now / 1_000 - 1 },
        Fault(.wrong, "tls", "server.tls.certificate", "expires in 3 days") {
            $0.certificate?.notAfter = now / 1_000 + 3 * 86_400 + 60
        },
        Fault(.note, "tls", "server.tls.certificate", "expires in 20 days") {
            $0.certificate?.notAfter = now / 1_000 + 20 * 86_400 + 60
        },
        Fault(.wrong, "tls", "server.tls.certificate", "not valid yet") {
            $0.certificate?.notBefore = now / 1_000 + 60
        },
        Fault(.wrong, "tls", "server.tls.certificate", "not for auth.example") {
            $0.certificate?.names = ["*.example.org"]
        },
        Fault(.wrong, "audit", "audit.file", "breaks") { $0.audit = .broken("audit.jsonl:3: the chain breaks") },
        Fault(.note, "audit", "audit.file", "off") { $0.audit = .off },
        Fault(.wrong, "disk", "audit.file", "10 MiB") {
            $0.disks = [.init(keys: ["audit.file"], device: 1, path: ".", free: 10 << 20, total: 100 << 30)]
        },
        Fault(.wrong, "disk", "state.url", "and for audit.file") {
            $0.disks = [
                .init(keys: ["state.url", "audit.file"], device: 1, path: ".", free: 10 << 20, total: 100 << 30)
            ]
        },
        Fault(.note, "disk", "audit.file", "(3 %)") {
            $0.disks = [.init(keys: ["audit.file"], device: 1, path: ".", free: 3 << 30, total: 100 << 30)]
        },
        Fault(.note, "proxies", "server.trusted_proxies", "came from 10.0.0.7") {
            $0.callers = .init(seen: 100, commonest: "10.0.0.7", ofCommonest: 99)
        },
        Fault(.wrong, "upstreams", "routes[0]", "Connection refused") {
            $0.dependencies = [dependency(.connection, .failed("Connection refused"))]
        },
        Fault(.wrong, "upstreams", "routes[0]", "names the issuer b") {
            $0.dependencies = [
                dependency(.discovery(issuer: "a"), .answered(status: 200, body: Array(#"{"issuer":"b"}"#.utf8)))
            ]
        },
        Fault(.wrong, "upstreams", "routes[0]", "no key set") {
            $0.dependencies = [dependency(.keySet, .answered(status: 200, body: Array(#"{"keys":[]}"#.utf8)))]
        },
        Fault(.wrong, "upstreams", "routes[0]", "answers 404") {
            $0.dependencies = [dependency(.keySet, .answered(status: 404, body: []))]
        },
        Fault(.wrong, "upstreams", "routes[0]", "/keys?sig=redacted: no answer") {
            $0.dependencies = [dependency(.keySet, .failed("no answer"), at: "http://127.0.0.1:9/keys?sig=hunter2")]
        },
    ]

    private static func dependency(
        _ kind: DoctorFacts.Dependency.Kind, _ answer: DoctorFacts.Answer, at target: String = "http://127.0.0.1:9"
    ) -> DoctorFacts.Dependency {
        .init(check: "upstreams", key: "routes[0]", target: target, kind: kind, answer: answer)
    }

    @Test(
        "What the configuration alone tells is found with its key",
        arguments: [
            ("admin: 127.0.0.1:9180", "admin: 0.0.0.0:9180", "wrong admin server.admin"),
            ("admin: 127.0.0.1:9180", "admin: 203.0.113.1:9180", "wrong admin server.admin"),
            ("admin: 127.0.0.1:9180", "admin: 10.0.0.5:9180", "note admin server.admin"),
            ("admin: 127.0.0.1:9180", "admin: 100.64.0.5:9180", "note admin server.admin"),
            ("audit:", "errors: {explain: true}\naudit:", "wrong config errors.explain"),
            ("audit:", "limits: {enabled: false}\naudit:", "wrong config limits.enabled"),
            ("[10.9.9.9]", "[10.9.9.9]\n  allowed_origins: [http://a.example]", "wrong origins server.allowed_origins"),
            (
                "[10.9.9.9]", "[10.9.9.9]\n  allowed_origins: ['http://localhost:1']",
                "note origins server.allowed_origins"
            ),
            (
                "[10.9.9.9]", "[10.9.9.9]\n  allowed_origins: ['https://auth.example']",
                "note origins server.allowed_origins"
            ),
            ("[10.9.9.9]", "[10.9.9.9]\n  max_connections: 600000", "wrong limits server.max_connections"),
        ])
    func configured(_ line: String, _ other: String, _ wanted: String) throws {
        let amiss = try Self.findings(Self.yaml.replacing(line, with: other)).filter { $0.level != .good }
        #expect(amiss.map { "\($0.level.rawValue) \($0.check) \($0.key)" } == [wanted], "\(amiss)")
    }

    @Test("A trusted proxy, and callers from everywhere, are no reason for a note")
    func callers() throws {
        for callers in [
            DoctorFacts.Callers(seen: 100, commonest: "10.9.9.9", ofCommonest: 100),
            DoctorFacts.Callers(seen: 100, commonest: "10.0.0.7", ofCommonest: 50),
            DoctorFacts.Callers(seen: 100, commonest: "203.0.113.4", ofCommonest: 100),
            DoctorFacts.Callers(seen: 3, commonest: "10.0.0.7", ofCommonest: 3),
        ] {
            var facts = Self.healthy()
            facts.callers = callers
            #expect(try Self.findings(Self.yaml, facts).allSatisfy { $0.level == .good })
        }
    }

    @Test("Plain http in the issuer is wrong except on the machine itself")
    func issuers() throws {
        for (issuer, isWrong) in [
            ("http://auth.example", true), ("http://127.0.0.1:8080", false), ("http://app.localhost", false),
        ] {
            var facts = Self.healthy()
            facts.issuer = nil
            facts.certificate = nil
            let yaml = Self.yaml.replacing("https://auth.example", with: issuer)
            #expect(
                try Self.findings(yaml, facts).contains { $0.key == "tokens.issuer" && $0.level == .wrong } == isWrong)
        }
    }

    @Test("The report says the line of each key, has what is wrong first, and shows no password")
    func report() throws {
        var facts = Self.healthy()
        facts.audit = .off
        facts.store = .failed("no connection")
        let loaded = try load(Self.yaml, file: "g.yaml")
        let report = DoctorReport(findings: DoctorJudgement(loaded: loaded, facts: facts).findings) {
            loaded.place(of: $0)
        }
        #expect(report.lines.first?.contains("state.url (g.yaml:7:14) no connection") == true, "\(report.lines)")
        #expect(report.lines.first?.hasPrefix("wrong  store") == true)
        #expect(report.lines.last?.hasPrefix("wrong: 1, notes: 1, in order: ") == true)
        #expect(report.hasFaults && !report.lines.joined().contains("hidden"))
        let json = report.json.objectValue
        #expect(json?["wrong"]?.int64Value == 1 && json?["notes"]?.int64Value == 1)
        #expect(!report.json.serialized().contains("hidden"))
        let first = json?["findings"]?.arrayValue?.first { $0.objectValue?["level"]?.stringValue == "wrong" }?
            .objectValue
        #expect(first?["place"]?.stringValue == "g.yaml:7:14" && first?["key"]?.stringValue == "state.url")
    }

    @Test("Text of others is shown without what a terminal would obey")
    func hostileText() throws {
        var facts = Self.healthy()
        facts.issuer = .answered(status: 200, body: Array("{\"issuer\":\"\\u001b[31mx\\r\\ny\"}".utf8))
        let report = DoctorReport(findings: try Self.findings(Self.yaml, facts)) { $0 }
        #expect(report.lines.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 } })
    }

    @Test("A disk is reported once, however many things are on it, and what is not there is left out")
    func disks() {
        let found = DoctorFiles.disks([("state.url", "/tmp"), ("audit.file", "/tmp/."), ("log.access", "/nowhere/x")])
        #expect(found.map(\.keys) == [["state.url", "audit.file"]] && found.map(\.path) == ["/tmp"])
    }

    @Test("Targets are read as the gateway reads them")
    func targets() {
        #expect(DoctorTarget("http://[::1]:80/x") == .host("::1", port: 80))
        #expect(DoctorTarget("https://a.example") == .host("a.example", port: 443))
        #expect(DoctorTarget("unix:/run/a.sock") == .path("/run/a.sock"))
        #expect(DoctorTarget("ftp://a") == nil && DoctorTarget("") == nil)
    }
}
