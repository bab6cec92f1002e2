import Foundation
import Testing

/// What is installed: the Debian package, the manual, the completions, and what a release consists of.
@Suite(.blocking(limit: .seconds(600))) struct PackageTests {
    private static let root = GatewayProcess.packageRoot
    private static var environment: [String: String] { ["GATEHOUSE_BINARY": binary.path] }
    /// The binary without its symbols, as `make build` makes it: those of a debug build are nine tenths of the file,
    /// which every package would copy and hash.
    private static let binary: URL = {
        guard let place = try? GatewayProcess.makeDirectory() else { return GatewayProcess.binary }
        let stripped = place.appendingPathComponent("gatehouse")
        let made = try? Program.run("strip", ["-o", stripped.path, GatewayProcess.binary.path])
        return made?.status == 0 ? stripped : GatewayProcess.binary
    }()
    private static var hasPackager: Bool { (try? Program.run("dpkg-deb", ["--version"]).status) == 0 }
    /// Why the package can't be installed on a copy of this machine; nil where it can.
    private static let obstacle: String? = {
        guard hasPackager else { return "no dpkg-deb" }
        guard getuid() == 0 else { return "not root" }
        let probe = """
            mount -t tmpfs tmpfs "$1" && mkdir "$1/u" "$1/w" "$1/r" &&
            mount -t overlay overlay -o "lowerdir=/,upperdir=$1/u,workdir=$1/w" "$1/r"
            """
        let place = try? GatewayProcess.makeDirectory()
        let answer = try? Program.run(
            "unshare", ["--mount", "--net", "--pid", "--fork", "sh", "-c", probe, "sh", place?.path ?? "/nowhere"])
        return answer?.status == 0 ? nil : "no overlay file system in namespaces"
    }()

    @Test(
        "The Debian package is installed, upgraded, removed and purged; its service runs as the unit starts it",
        .enabled(if: obstacle == nil, "it takes root, dpkg-deb, and an overlay file system in namespaces"))
    func debian() throws {
        let result = try Program.run(
            "python3",
            [Self.root.appendingPathComponent("Tests/Packages/debian.py").path, Self.binary.path])
        let output = String(decoding: result.output, as: UTF8.self)
        // This machine has no namespaces, or no overlay on what it has as its root.
        if result.status == 77 {
            #if compiler(>=6.3)
            try Test.cancel("\(output)")
            #else
            return
            #endif
        }
        #expect(result.status == 0 && output == "ok\n", "\(result.errors)")
    }

    @Test(
        "systemd understands the units, waits until the gateway is ready, and starts it again after a reload that ended it",
        .enabled(if: (try? Program.run("systemd-analyze", ["--version"]).status) == 0, "systemd-analyze is missing"))
    func units() throws {
        let place = try GatewayProcess.makeDirectory()
        let copies = try ["gatehouse.service", "gatehouse.socket"].map { name in
            let source = Self.root.appendingPathComponent("deploy").appendingPathComponent(name)
            // The program need not be installed here.
            let text = try String(contentsOf: source, encoding: .utf8).replacing(
                "/usr/local/bin/gatehouse", with: "/bin/true")
            let copy = place.appendingPathComponent(name)
            try text.write(to: copy, atomically: true, encoding: .utf8)
            return (text, copy.path)
        }
        let service = try #require(copies.first).0
        #expect(service.contains("\nType=notify\n") && service.contains("\nRestartForceExitStatus=SIGHUP\n"))
        let checked = try Program.run("systemd-analyze", ["verify"] + copies.map(\.1))
        #expect(checked.status == 0 && !checked.errors.contains("gatehouse."), "\(checked.errors)")
    }

    @Test("make install puts everything below DESTDIR, and keeps a configuration that is there")
    func install() throws {
        let place = try GatewayProcess.makeDirectory()
        func install() throws {
            let result = try Program.run(
                "make", ["install"], environment: Self.environment.merging(["DESTDIR": place.path]) { $1 },
                in: Self.root)
            #expect(result.status == 0, "\(result.errors)")
        }
        try install()
        let file = place.appendingPathComponent("etc/gatehouse/gatehouse.yaml")
        let unit = place.appendingPathComponent("usr/local/lib/systemd/system/gatehouse.service")
        #expect(try String(contentsOf: unit, encoding: .utf8).contains("ExecStart=/usr/local/bin/gatehouse serve"))
        let checked = try GatewayProcess.run(["config", "show", "--config", file.path], in: place, stateful: false)
        for line in ["sqlite:/var/lib/gatehouse/gatehouse.sqlite", "/var/lib/gatehouse/keys", "audit.jsonl"] {
            #expect(checked.output.contains(line), "\(checked)")
        }
        try "# mine\n".write(to: file, atomically: false, encoding: .utf8)
        try install()
        #expect(try String(contentsOf: file, encoding: .utf8) == "# mine\n")
    }

    /// Every command, as its words.
    private static func commands() throws -> [[String]] {
        let dump = try GatewayProcess.run(["--experimental-dump-help"], in: root, stateful: false)
        let object = try JSONSerialization.jsonObject(with: Data(dump.output.utf8)) as? [String: Any]
        func leaves(_ command: [String: Any], _ path: [String]) -> [[String]] {
            let below = (command["subcommands"] as? [[String: Any]] ?? []).filter {
                $0["commandName"] as? String != "help"
            }
            guard !below.isEmpty else { return [path] }
            return below.flatMap { leaves($0, path + [$0["commandName"] as? String ?? "?"]) }
        }
        return leaves(object?["command"] as? [String: Any] ?? [:], [])
    }

    @Test("The manual names every command, and roff reads it without a warning")
    func manual() throws {
        let commands = try Self.commands()
        #expect(
            commands.count > 25 && commands.contains(["doctor"]) && commands.contains(["users", "passkeys", "remove"]))
        let script = "'\(GatewayProcess.binary.path)' --experimental-dump-help | python3 deploy/package/manual.py 1.0"
        let page = try Program.run("sh", ["-c", script], in: Self.root)
        let text = String(decoding: page.output, as: UTF8.self).replacing("\\-", with: "-")
        for command in commands {
            let heading = ".SS " + command.joined(separator: " ")
            #expect(text.contains(heading + "\n") || text.contains(heading + " "), "\(heading)")
        }
        if (try? Program.run("groff", ["--version"]).status) == 0 {
            let read = try Program.run(
                "sh", ["-c", script + " | groff -man -Tutf8 -ww -Kutf8 >/dev/null"], in: Self.root)
            #expect(read.status == 0 && read.errors.isEmpty, "\(read.errors)")
        }
    }

    @Test("The completions know every command, and bash completes one", arguments: ["bash", "zsh", "fish"])
    func completions(_ shell: String) throws {
        let script = try GatewayProcess.run(["--generate-completion-script", shell], in: Self.root, stateful: false)
        #expect(script.status == 0)
        for word in Set(try Self.commands().joined()) { #expect(script.output.contains(word), "\(word)") }
        guard shell == "bash" else { return }
        let place = try GatewayProcess.makeDirectory()
        let file = place.appendingPathComponent("gatehouse").path
        try script.output.write(toFile: file, atomically: true, encoding: .utf8)
        let completed = try Program.run(
            "bash",
            [
                "-c",
                """
                source "$1"; COMP_WORDS=(gatehouse do); COMP_CWORD=1; COMP_LINE='gatehouse do'; COMP_POINT=12
                _gatehouse gatehouse do gatehouse; printf '%s\\n' "${COMPREPLY[@]}"
                """, "bash", file,
            ])
        #expect(String(decoding: completed.output, as: UTF8.self).contains("doctor"), "\(completed)")
    }

    @Test(
        "A release has checksums that are right, the notes of the changelog, and a bill of everything that is inside",
        .enabled(if: hasPackager, "dpkg-deb is missing"))
    func release() throws {
        let dist = try GatewayProcess.makeDirectory()
        let made = try Program.run(
            "deploy/package/release", [],
            environment: Self.environment.merging(["DIST": dist.path, "DEB_COMPRESSION": "none", "GZIP_LEVEL": "1"]) {
                $1
            }, in: Self.root)
        #expect(made.status == 0, "\(made.errors)")
        let sums = try Program.run("sha256sum", ["--check", "--strict", "SHA256SUMS"], in: dist)
        #expect(sums.status == 0, "\(sums)")
        let names = Set(try FileManager.default.contentsOfDirectory(atPath: dist.path))
        let listed = try String(contentsOf: dist.appendingPathComponent("SHA256SUMS"), encoding: .utf8)
        #expect(names.count == 5 && names.allSatisfy { $0 == "SHA256SUMS" || listed.contains("  \($0)\n") }, "\(names)")
        let notes = try String(contentsOf: dist.appendingPathComponent("RELEASE_NOTES.md"), encoding: .utf8)
        #expect(notes.hasPrefix("# Gatehouse ") && notes.count > 500)

        let bill = try #require(names.first { $0.hasSuffix(".cdx.json") })
        let data = try Data(contentsOf: dist.appendingPathComponent(bill))
        let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        #expect(object?["bomFormat"] as? String == "CycloneDX" && object?["specVersion"] as? String == "1.5")
        let parts = object?["components"] as? [[String: Any]] ?? []
        let inside = Set(parts.compactMap { $0["name"] as? String })
        let resolved = try Data(contentsOf: Self.root.appendingPathComponent("Package.resolved"))
        let pins =
            (try JSONSerialization.jsonObject(with: resolved) as? [String: Any])?["pins"] as? [[String: Any]] ?? []
        #expect(pins.count > 10 && pins.allSatisfy { inside.contains($0["identity"] as? String ?? "?") })
        for library in ["libssl3", "libpq5", "libsqlite3-0"]
        where FileManager.default.fileExists(atPath: "/etc/debian_version") {
            #expect(inside.contains { $0.hasPrefix(library) }, "\(library) in \(inside)")
        }
        #expect(parts.allSatisfy { ($0["purl"] as? String)?.hasPrefix("pkg:") == true && $0["version"] is String })
    }

    @Test(
        "Alert rules are well formed, fire on what they are about, and are silent when all is calm",
        .enabled(if: hasPromtool))
    func alerts() throws {
        for arguments in [
            ["check", "rules", "deploy/prometheus/gatehouse.rules.yml"],
            ["test", "rules", "Tests/Packages/alerts.test.yml"],
        ] {
            let result = try Program.run("promtool", arguments, in: Self.root)
            #expect(result.status == 0, "\(String(decoding: result.output, as: UTF8.self)) \(result.errors)")
        }
    }

    private static var hasPromtool: Bool { (try? Program.run("promtool", ["--version"]).status) == 0 }
    private static var hasPrometheus: Bool { (try? Program.run("prometheus", ["--version"]).status) == 0 }

    @Test(
        "A real Prometheus scrapes a gateway, evaluates all rules, and answers every query of the dashboard",
        .enabled(if: hasPrometheus, "prometheus is missing"))
    func prometheus() async throws {
        let gateway = try await GatewayInProcess.start(
            "", users: [.ada], environment: ["GATEHOUSE_SERVER_ADMIN": "127.0.0.1:0"])
        defer { gateway.stop() }
        let admin = try #require(gateway.adminPort)
        _ = try gateway.login(.ada)
        let result = try Program.run(
            "python3", [Self.root.appendingPathComponent("Tests/Packages/monitoring.py").path, "127.0.0.1:\(admin)"])
        #expect(result.status == 0 && String(decoding: result.output, as: UTF8.self) == "ok\n", "\(result.errors)")
    }

    @Test("The configuration in the example for Kubernetes is one that the gateway takes")
    func kubernetes() throws {
        let example = Self.root.appendingPathComponent("deploy/kubernetes/gatehouse.yaml")
        let text = try String(contentsOf: example, encoding: .utf8)
        let begin = try #require(text.firstRange(of: "gatehouse.yaml: |\n")?.upperBound)
        let end = try #require(text[begin...].firstRange(of: "\n---")?.lowerBound)
        let place = try GatewayProcess.makeDirectory()
        let file = place.appendingPathComponent("gatehouse.yaml")
        let lines = text[begin..<end].split(separator: "\n").map {
            $0.hasPrefix("    ") ? String($0.dropFirst(4)) : "?"
        }
        try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        let checked = try GatewayProcess.run(["config", "check", "--config", file.path], in: place, stateful: false)
        #expect(checked.status == 0, "\(checked.errors)")
    }

    @Test("The capacity model runs within seconds, and says what the documentation says")
    func capacity() throws {
        let result = try Program.run("python3", ["Benchmarks/Capacity/simulate.py"], in: Self.root)
        // Columns are padded.
        let words = { (output: Data) in
            String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
        let text = words(result.output)
        #expect(result.status == 0 && text.contains("it never catches up"), "\(text) \(result.errors)")
        let documented = try String(
            contentsOf: Self.root.appendingPathComponent("docs/several-nodes.md"), encoding: .utf8)
        for (line, figure) in [
            ("refreshes 13889 /s", "13,889"), ("load of PostgreSQL 150 %", "150 %"),
            ("sockets 100000", "100,000"), ("connections 1300", "1,300"), ("memory 1.0 GB", "100,000 and 1.0 GB"),
        ] {
            #expect(text.contains(line), "\(line) in \(text)")
            #expect(documented.contains(figure), "\(figure)")
        }
        let hour = try Program.run(
            "python3", ["Benchmarks/Capacity/simulate.py", "--token-lifetime", "3600"], in: Self.root)
        #expect(words(hour.output).contains("load of PostgreSQL 42 %"))
        #expect(
            try Program.run("python3", ["Benchmarks/Capacity/simulate.py", "--nodes", "0"], in: Self.root).status == 2)
    }
}
