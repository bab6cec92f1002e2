import Foundation
import GatewayForTests
import PostgresForTests
import Testing

/// `gatehouse doctor` beside a running gateway.
@Suite(.blocking) struct DoctorTests {
    private static func doctor(_ place: URL, _ more: [String] = []) throws -> CommandResult {
        try GatewayProcess.run(["doctor", "--config", "gatehouse.yaml"] + more, in: place, stateful: false)
    }

    @Test("Nothing is wrong with a gateway that was just started; what is broken then is found, with status 1")
    func deployment() async throws {
        let (port, admin) = (try SocketAddressing.unusedPort(), try SocketAddressing.unusedPort())
        let upstream = try RecordingUpstream()
        let place = try GatewayProcess.makeDirectory()
        let yaml = """
            server: {listen: '127.0.0.1:\(port)', admin: '127.0.0.1:\(admin)'}
            tokens: {issuer: 'http://127.0.0.1:\(port)'}
            state: {url: 'sqlite:\(place.path)/state.sqlite'}
            keys: {directory: '\(place.path)/keys'}
            audit: {file: '\(place.path)/audit.jsonl'}
            routes: [{path: /o, upstream: '\(upstream.url)', require: none}]
            """
        let gateway = try await GatewayProcess.start(
            yaml, users: [.ada], environment: ["GATEHOUSE_SERVER_ADMIN": "127.0.0.1:\(admin)"], directory: place,
            listen: "127.0.0.1:\(port)")
        defer { gateway.stop() }
        _ = try gateway.login(.ada)
        var calm = try Self.doctor(place)
        // A gateway that the machine stops for as long as it is waited for does not answer in time.
        for _ in 0..<2 where calm.status != 0 { calm = try Self.doctor(place) }
        #expect(calm.status == 0, "\(calm)")
        for words in ["it runs and is ready", "is answered by a gateway of this name", "the chain of", "keys in"] {
            #expect(calm.output.contains(words), "\(calm.output)")
        }

        upstream.stop()
        let keys = place.appendingPathComponent("keys").path
        let pem = try #require(try FileManager.default.contentsOfDirectory(atPath: keys).first { $0.hasSuffix(".pem") })
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(keys)/\(pem)")
        let log = place.appendingPathComponent("audit.jsonl")
        try String(contentsOf: log, encoding: .utf8).replacing("ada", with: "eve")
            .replacing("\"time\":\"2", with: "\"time\":\"3").write(to: log, atomically: false, encoding: .utf8)
        func wrong(_ told: CommandResult) throws -> [[String: Any]] {
            let report = try JSONSerialization.jsonObject(with: Data(told.output.utf8)) as? [String: Any]
            return (report?["findings"] as? [[String: Any]] ?? []).filter { $0["level"] as? String == "wrong" }
        }
        var sick = try Self.doctor(place, ["--json"])
        for _ in 0..<2 where try wrong(sick).count > 3 { sick = try Self.doctor(place, ["--json"]) }
        #expect(sick.status == 1, "\(sick)")
        let findings = try wrong(sick)
        #expect(
            findings.compactMap { $0["check"] as? String }.sorted() == ["audit", "keys", "upstreams"], "\(sick.output)")
        #expect(findings.contains { ($0["place"] as? String)?.hasSuffix("gatehouse.yaml:6:10") == true }, "\(findings)")
    }

    @Test("A configuration that can't be used is shown as config check shows it, with status 2")
    func configuration() throws {
        let place = try GatewayProcess.makeDirectory()
        try "server:\n  listn: x\n".write(
            to: place.appendingPathComponent("gatehouse.yaml"), atomically: true, encoding: .utf8)
        let result = try Self.doctor(place)
        #expect(result.status == 2 && result.output.isEmpty && result.errors.contains("gatehouse.yaml:2"), "\(result)")
        let json = try Self.doctor(place, ["--json"])
        #expect(json.status == 2 && json.output.contains("\"wrong\":1"), "\(json)")
        #expect(try Self.doctor(place, ["--frobnicate"]).status == 2)
    }

    @Test("Looking changes nothing: no store, no keys and no tables are made")
    func untouched() throws {
        let place = try GatewayProcess.makeDirectory()
        try "server: {admin: 'off'}\n".write(
            to: place.appendingPathComponent("gatehouse.yaml"), atomically: true, encoding: .utf8)
        #expect(try Self.doctor(place).status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["gatehouse.yaml"])
    }

    @Test(
        "Settings of PostgreSQL that lose what was answered are found, and an empty database stays empty",
        .enabled(if: PrivatePostgres.isAvailable))
    func postgres() async throws {
        let postgres = try PrivatePostgres.shared.get()
        let database = try postgres.createDatabase()
        let place = try GatewayProcess.makeDirectory()
        let environment = ["GATEHOUSE_STATE_URL": postgres.url(database: database), "GATEHOUSE_SERVER_ADMIN": "off"]
        func doctor() throws -> CommandResult {
            try GatewayProcess.run(["doctor"], in: place, stateful: false, environment: environment)
        }
        // The tests' server runs with fsync=off.
        let empty = try doctor()
        #expect(empty.status == 1 && empty.output.contains("fsync is off"), "\(empty)")
        #expect(empty.output.contains("the store has no tables"), "\(empty)")
        #expect(
            try postgres.query("SELECT COUNT(*) FROM pg_namespace WHERE nspname = 'gatehouse'", database: database)
                == "0")
        try await TestAccounts.add([.ada], url: postgres.url(database: database))
        try postgres.query("ALTER DATABASE \(database) SET synchronous_commit = off")
        let used = try doctor()
        #expect(
            used.output.contains("the store answers") && used.output.contains("synchronous_commit is off"), "\(used)")
        #expect(used.output.contains("ms apart from the store's"), "\(used)")
        try postgres.query("UPDATE gatehouse.schema_version SET version = version + 1000", database: database)
        #expect(try doctor().output.contains("this program knows"))
    }
}
