import Foundation
import Testing

/// `gatehouse attack` against targets that are not ours, and against ours.
@Suite("The attack command", .blocking(limit: .seconds(300)))
struct AttackTests {
    @Test(
        "Tokens travel as the profile says",
        arguments: [
            ("cookie", "{carrier: cookie, name: gate, "), ("query", "{carrier: query, name: jwt, "),
            ("own-field", "{carrier: header, name: X-Token, "), ("body", "{carrier: body, name: jwt, "),
            ("subprotocol", "{carrier: subprotocol, "),
        ])
    func carriers(mode: String, token: String) throws {
        let profile = AttackRun.profile("\(token)command: 'printf the-good-token'}")
        let found = try AttackRun.on(mode, AttackRun.opaque, profile: profile, token: false)
        #expect(found.status == 0 && found.verdicts.values.contains("passed"), "\(found.output)\(found.errors)")
        // The control: in another place the good token is none.
        let other = try AttackRun.on("strict", AttackRun.opaque, profile: profile, token: false)
        #expect(other.status == 2)
    }

    @Test("The profiles that ship are read, and that of a cookie's edge judges one")
    func shippedProfiles() throws {
        let folder = GatewayProcess.packageRoot.appendingPathComponent("Examples/attack")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".yaml") }
        #expect(names.count == 5)
        for name in names {
            let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            let found = try AttackRun.at("http://127.0.0.1:1", ["--token", "x"] + AttackRun.opaque, text)
            #expect(found.status == 2 && !found.report.isEmpty, "\(name): \(found.errors)")
        }
        let cookie = try String(contentsOf: folder.appendingPathComponent("cookie.yaml"), encoding: .utf8)
            .replacing("cat cookie", with: "printf the-good-token").replacing("_oauth2_proxy", with: "gate")
        let found = try AttackRun.on("cookie", ["--only", "J*", "--only", "P*"], profile: cookie, token: false)
        #expect(found.status == 0, "\(found.output)\(found.errors)")
        #expect(found.verdicts.values.count { $0 == "passed" } > 20)
    }

    @Test("Over https the certificate counts, unless it is told not to")
    func https() throws {
        let place = try GatewayProcess.makeDirectory()
        let (certificate, key) = try Self.certificate(in: place)
        let authority = ["--ca", certificate]
        let runs: [(mode: String, arguments: [String], status: Int32)] = [
            ("tls", [], 2), ("tls", ["--insecure"], 0), ("tls", authority, 0),
            // A connection that ends instead of a refusal, as over http, and without the alert of TLS.
            ("tls-closes", authority, 0),
            ("client-certificate", authority, 2),
            ("client-certificate", authority + ["--client-cert", certificate, "--client-key", key], 0),
        ]
        for (mode, arguments, status) in runs {
            let found = try AttackRun.on(
                mode, AttackRun.opaque + arguments, scheme: "https", certificate: [certificate, key])
            #expect(found.status == status, "\(mode) \(arguments): \(found.output)\(found.errors)")
            #expect(!(found.output + found.errors).contains("checkouts"), "\(found.output)\(found.errors)")
        }
        // A key set elsewhere is fetched with the same trust.
        let (process, output) = try Program.start("python3", [Program.script("target.py"), "tls", certificate, key])
        defer { process.terminate() }
        let target = "https://127.0.0.1:\(try Program.line(output))"
        for (arguments, answer) in [([String](), "no TLS connection"), (authority, "answered 401")] {
            let found = try AttackRun.at(
                "http://127.0.0.1:1", ["--token", "x", "--jwks", target + "/keys?p=1"] + arguments)
            #expect(found.status == 2 && found.errors.contains(answer), "\(arguments): \(found.errors)")
        }
    }

    private static func certificate(in place: URL) throws -> (certificate: String, key: String) {
        let (key, certificate) = (place.path + "/key.pem", place.path + "/cert.pem")
        let made = try Program.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
                "-out", certificate, "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
            ])
        try #require(made.status == 0, "\(made.errors)")
        return (certificate, key)
    }

    @Test("Another machine is not attacked, and its name not even resolved")
    func elsewhere() throws {
        for target in [
            "http://example.com", "http://127.0.0.1.nip.io", "http://10.0.0.1", "http://[::2]", "http://0.0.0.0",
        ] {
            let found = try AttackRun.at(target, ["--token", "x"])
            #expect(found.status == 2 && found.errors.contains("--i-own-this-target"), "\(found.errors)")
            #expect(found.report.isEmpty)
        }
        let keys = try AttackRun.at("http://127.0.0.1:1", ["--token", "x", "--jwks", "http://example.com/keys"])
        #expect(keys.status == 2 && keys.errors.contains("example.com: not this machine"), "\(keys.errors)")
    }

    @Test(
        "A report that can't be written is told, and counts for less than what failed",
        arguments: [("strict", Int32(2)), ("accepts-any-token", 1)])
    func unwritten(mode: String, status: Int32) throws {
        let found = try AttackRun.on(mode, AttackRun.opaque + ["--report", "junit=/dev/full"])
        #expect(found.status == status && found.errors.contains("/dev/full: not written"), "\(found.errors)")
    }

    @Test("Wrong usage exits 2 with one line")
    func usage() throws {
        let target = "http://127.0.0.1:1"
        for arguments in [
            ["attack"], ["attack", "ftp://127.0.0.1"], ["attack", target, "--only", "ZZ*"],
            ["attack", "--explain", "nope"], ["attack", "--export", "/nowhere/vectors.json"],
            ["attack", target, "--report", "xml=x"], ["attack", target, "--profile", "none.yaml"],
            ["attack", target, "--replay", "none.json"], ["attack", target, "--rate", "0"],
            ["attack", target, "--timeout", "0"],
            ["attack", target],
        ] {
            let result = try GatewayProcess.run(arguments, in: GatewayProcess.makeDirectory(), stateful: false)
            #expect(result.status == 2, "\(arguments)")
            #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        }
        let wrong = try AttackRun.at(target, ["--token", "x"], "path: /x\nsockt: {path: /ws}\n")
        #expect(wrong.status == 2 && wrong.report.isEmpty)
        #expect(wrong.errors.contains("profile.yaml:2:1: 'sockt' is no key here"), "\(wrong.errors)")
    }

    @Test("The list names every case, and one is explained")
    func list() throws {
        let place = try GatewayProcess.makeDirectory()
        let list = try GatewayProcess.run(["attack", "--list", "--json"], in: place, stateful: false)
        let rows = try #require(JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]])
        #expect(rows.count > 600)
        for row in rows {
            #expect(Set(row.keys).isSuperset(of: ["id", "family", "title", "reference", "needs"]))
        }
        let explained = try GatewayProcess.run(["attack", "--explain", "R01-reuse"], in: place, stateful: false)
        #expect(explained.status == 0 && explained.output.contains("RFC 9700"))
    }

    @Test("A report's requests are sent again, byte by byte")
    func replay() throws {
        let (process, output) = try Program.start("python3", [Program.script("target.py"), "accepts-any-token"])
        defer { process.terminate() }
        let target = "http://127.0.0.1:\(try Program.line(output))"
        let place = try GatewayProcess.makeDirectory()
        let file = place.appendingPathComponent("first.json").path
        // A file that others may read is written over.
        let old = FileManager.default.createFile(
            atPath: file, contents: Data("old".utf8), attributes: [.posixPermissions: 0o644])
        #expect(old)
        let first = try AttackRun.at(
            target, ["--token", "the-good-token", "--report", "json=\(file)"] + AttackRun.opaque)
        let again = try AttackRun.at(target, ["--replay", file])
        #expect(first.status == 1 && again.status == 1)
        #expect(again.verdicts == first.verdicts)
        let none = try AttackRun.at(target, ["--replay", file, "--category", "carrier"])
        #expect(none.status == 2 && none.errors.contains("no case with evidence is selected"), "\(none.errors)")
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        let strict = try Program.start("python3", [Program.script("target.py"), "strict"])
        defer { strict.process.terminate() }
        let mended = try AttackRun.at("http://127.0.0.1:\(try Program.line(strict.output))", ["--replay", file])
        #expect(mended.status == 0 && Set(mended.verdicts.values) == ["passed"], "\(mended.output)")
    }

    private static let users = ["one", "two"].map { name in
        TestUser(
            email: "attack-\(name)@example.com", password: "attack-\(name)-password", tenant: "default", scopes: [])
    }

    @Test("A socket of our own gateway ends with its token, where tokens are short enough to wait for it")
    func expiry() async throws {
        let gateway = try await GatewayInProcess.start(
            "tokens: {access_token_lifetime: 8s, clock_skew: 0s}\nlimits: {enabled: false}", users: Self.users)
        let profile = """
            token:
              login: {path: /api/auth/login, email: attack-one@example.com, password: attack-one-password,
                      tenant_id: default}
            path: /api/auth/me
            socket: {path: /api/runtime/agent}
            """
        var found = try AttackRun.at(gateway.origin, ["--only", "W10-expiry"], profile)
        // Not judged where the machine stops for so long that the token has expired before its socket opens.
        for _ in 0..<2 where found.verdicts["W10-expiry"] == "inconclusive" {
            found = try AttackRun.at(gateway.origin, ["--only", "W10-expiry"], profile)
        }
        #expect(found.verdicts == ["W10-expiry": "passed"], "\(found.output)\(found.errors)")
    }

    @Test(
        "Our own gateway passes everything, over HTTP/1.1, and over HTTP/2 with https",
        .quiet("how soon a socket ends is a part of what is judged"), arguments: [false, true])
    func ours(isHTTP2: Bool) async throws {
        let port = try SocketAddressing.unusedPort()
        let place = try GatewayProcess.makeDirectory()
        let (certificate, key) = try Self.certificate(in: place)
        let tls = isHTTP2 ? "server: {tls: {certificate: '\(certificate)', key: '\(key)'}}" : ""
        let gateway = try await GatewayInProcess.start(
            """
            \(tls)
            limits: {enabled: false}
            tokens: {audience: [gateKeeper, gatehouse]}
            clients: {registration: true, registration_per_hour: 1000}
            routes:
              - {path: /canary, upstream: "http://127.0.0.1:\(port)", require: token, websocket: true}
              - path: /agents
                upstream: "http://127.0.0.1:\(port)"
                resource: {name: Agents, scopes: [read, write]}
                scopes: [read]
            """,
            users: Self.users)
        let keys = gateway.directory.appendingPathComponent("keys")
        let signing = try #require(
            FileManager.default.contentsOfDirectory(atPath: keys.path).first { $0.hasSuffix(".pem") })
        let profile = try String(
            contentsOf: GatewayProcess.packageRoot.appendingPathComponent("Examples/attack/gatehouse.yaml"),
            encoding: .utf8
        ).replacing("127.0.0.1:9390", with: "127.0.0.1:\(port)")
        let whole = place.path + "/whole.json"
        let found = try AttackRun.at(
            gateway.origin,
            ["--key", keys.appendingPathComponent(signing).path, "--strict", "--report", "json=\(whole)"]
                + (isHTTP2 ? ["--http2", "--ca", certificate] : []), profile)
        #expect(found.status == 0, "\(found.output)\(found.errors)")
        let passed = found.verdicts.values.count { $0 == "passed" }
        #expect(passed > (isHTTP2 ? 600 : 700), "\(found.output)")
        // Two that need an audience of a certain kind, and those that take more than one request.
        for id in [
            "J17-aud-kelvin", "J23-aud-single-string", "J08-kid-flood", "J27-twin-after-logout", "J29-sub-line",
            "S08-refresh-against-logout", "S11-assertion-as-token", "R05-lost-answer", "R08-access-after-password",
        ] {
            #expect(found.verdicts[id] == "passed", "\(id): \(found.output)")
        }
        #expect(found.report["powers"] as? [String] == ["black-box", "token", "two-users", "key"])
        if !isHTTP2 {
            // The same tokens, as a WebSocket's subprotocols carry them.
            let subprotocol = try AttackRun.at(
                gateway.origin,
                ["--key", keys.appendingPathComponent(signing).path, "--only", "J0*", "--only", "J2*"],
                profile.replacing("carrier: header", with: "carrier: subprotocol"))
            #expect(subprotocol.status == 0, "\(subprotocol.output)\(subprotocol.errors)")
            #expect(subprotocol.verdicts.values.count { $0 == "passed" } > 100, "\(subprotocol.output)")
        }
        // A report of everything is one that can be sent again.
        let again = try AttackRun.at(
            gateway.origin,
            ["--replay", whole, "--only", "J01-*", "--only", "J03-*", "--only", "P15-token-leak"]
                + (isHTTP2 ? ["--only", "H03-*", "--http2", "--ca", certificate] : []), profile)
        #expect(again.status == 0 && again.verdicts.count > (isHTTP2 ? 35 : 20), "\(again.output)\(again.errors)")
    }

    @Test(
        "Our own gateway passes the cases about the other keys that it may have",
        arguments: ["ES512", "RS256", "PS256", "EdDSA", "Ed25519"])
    func otherKeys(algorithm: String) async throws {
        let gateway = try await GatewayInProcess.start(
            "limits: {enabled: false}\ntokens: {algorithm: \(algorithm)}\n",
            users: [TestUser(email: "attack-one@example.com", password: "attack-one-password", tenant: "default")])
        let keys = gateway.directory.appendingPathComponent("keys")
        let signing = try #require(
            FileManager.default.contentsOfDirectory(atPath: keys.path).first { $0.hasSuffix(".pem") })
        let profile = """
            token:
              login:
                path: /api/auth/login
                email: attack-one@example.com
                password: attack-one-password
                tenant_id: default
            path: /api/auth/me
            """
        var arguments = ["--key", keys.appendingPathComponent(signing).path, "--strict"]
        for row in ["J03-*", "J04-*", "J09-*", "J11-*", "J12-*"] { arguments += ["--only", row] }
        let found = try AttackRun.at(gateway.origin, arguments, profile)
        #expect(found.status == 0, "\(found.output)\(found.errors)")
        let (row, count) =
            algorithm.hasPrefix("ES") ? ("J09-", 12) : algorithm.hasPrefix("Ed") ? ("J11-", 12) : ("J12-", 9)
        let passed = found.verdicts.filter { $0.key.hasPrefix(row) && $0.value == "passed" }
        #expect(passed.count == count, "\(found.output)")
    }

    @Test("Progress is shown on a terminal, and nowhere else")
    func progress() throws {
        let (process, output) = try Program.start("python3", [Program.script("target.py"), "strict"])
        defer { process.terminate() }
        let target = "http://127.0.0.1:\(try Program.line(output))"
        let command = [GatewayProcess.binary.path, "attack", target, "--token", "the-good-token"] + AttackRun.opaque
        let onTerminal = """
            import os, subprocess, sys
            main, other = os.openpty()
            run = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=other)
            os.close(other)
            try:
                while part := os.read(main, 65536): os.write(1, part)
            except OSError:
                pass  # The end of a terminal.
            sys.exit(run.returncode)
            """
        let shown = try Program.run("python3", ["-c", onTerminal] + command)
        let text = String(decoding: shown.output, as: UTF8.self)
        #expect(shown.status == 0 && text.contains("6/6  0 failed  J02-opaque-"), "\(text)\(shown.errors)")
        let elsewhere = try Program.run(command[0], Array(command.dropFirst()))
        #expect(elsewhere.status == 0 && !elsewhere.errors.contains("6/6"), "\(elsewhere.errors)")
    }
}
