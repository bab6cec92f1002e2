import BasicsForTests
import Foundation
import Testing

/// A gateway that is replaced while clients go on.
@Suite(.blocking) struct HandOverTests {
    @Test("Two gateways share a port with server.reuse_port; when one stops, the other serves")
    func reusePort() async throws {
        let port = try SocketAddressing.unusedPort()
        let yaml = "server:\n  reuse_port: true\n  threads: 1\naudit:\n  file: audit.jsonl\n"
        let first = try await GatewayProcess.start(yaml, users: [.ada], listen: "127.0.0.1:\(port)")
        let second = try await GatewayProcess.start(
            yaml, users: [], directory: first.directory, listen: "127.0.0.1:\(port)")
        defer { second.stop() }
        let ada = try second.login(.ada)
        for _ in 0..<10 { #expect(try first.isHealthy(ada.token)) }
        #expect(first.stop() == 0)
        for _ in 0..<10 { #expect(try second.isHealthy(ada.token)) }
        let log = first.directory.appendingPathComponent("audit.jsonl").path
        #expect(try GatewayProcess.run(["audit", "verify", log], in: first.directory, stateful: false).status == 0)
    }

    @Test("Without it, a second gateway on the port is refused")
    func taken() async throws {
        let first = try await GatewayProcess.start("", users: [])
        defer { first.stop() }
        await #expect(throws: GatewayFailure.self) {
            _ = try await GatewayProcess.start("", users: [], listen: "127.0.0.1:\(first.port)")
        }
    }

    @Test(
        "Handshakes under way when the gateway is told to stop are finished and answered",
        .enabled(if: HTTP2Script.canRun))
    func lateHandshakes() async throws {
        let place = try GatewayProcess.makeDirectory()
        let gateway = try await GatewayProcess.start(try HTTP2Script.tls(in: place), users: [], directory: place)
        let found = try HTTP2Script.run("late_handshakes", gateway, ["\(gateway.processID)"])
        #expect(found["http1"] as? Int == 200 && found["connection"] as? String == "close", "\(found)")
        #expect(found["http2"] as? Int == 200, "\(found)")
        #expect(gateway.stop() == 0)
    }

    @Test("A kept connection that the stop has not closed yet hears with its next answer that it is the last")
    func lastAnswers() async throws {
        // They are closed one after the other, over half a minute.
        let gateway = try await GatewayInProcess.start("server:\n  drain: 60s\n", users: [])
        let request = "GET /.well-known/jwks.json HTTP/1.1\r\nHost: h\r\n\r\n"
        var kept = try (0..<64).map { _ in try RawSocket(port: gateway.port) }
        for socket in kept {
            try socket.send(request)
            #expect(try socket.response()["connection"] == nil)
        }
        async let status = onThread { gateway.stop() }
        #expect(try await eventually { (try? RawSocket(port: gateway.port)) == nil })
        // The first of them may have been closed.
        let answers = kept.compactMap { socket in (try? socket.send(request)).flatMap { try? socket.response() } }
        #expect(!answers.isEmpty && answers.allSatisfy { $0["connection"] == "close" })
        kept = []
        #expect(try await status == 0)
    }

    /// Listens in place of systemd, and starts the gateway with the socket.
    private static let activation = """
        import os, socket, sys
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", int(sys.argv[1])))
        listener.listen(64)
        os.dup2(listener.fileno(), 3)
        os.set_inheritable(3, True)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="public")
        os.execv(sys.argv[2], sys.argv[2:])
        """

    @Test("The gateway serves on a socket that it was given", .enabled(if: Program.pythonHas("socket")))
    func socketActivation() async throws {
        let port = try SocketAddressing.unusedPort()
        let place = try GatewayProcess.makeDirectory()
        let (process, output) = try Program.start(
            "python3",
            [
                "-c", Self.activation, "\(port)", GatewayProcess.binary.path, "serve", "--admin", "off", "--state",
                "sqlite:\(place.path)/state.sqlite", "--keys", "\(place.path)/keys", "--listen", "127.0.0.1:1",
            ], errors: TestOutputs.sink(kind: "log"))
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        #expect(try Program.line(output) == "ready http://127.0.0.1:\(port)")
        let socket = try RawSocket(port: port)
        try socket.send("GET /.well-known/jwks.json HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(try socket.response().status == 200)
    }

    /// The same with a Unix socket that is not where the configuration says, and one more that no listener takes.
    private static let unixActivation = """
        import os, socket, sys
        for number, path in ((3, sys.argv[1]), (4, sys.argv[2])):
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(path)
            listener.listen(64)
            if listener.fileno() != number:
                os.dup2(listener.fileno(), number)
                listener.close()
            else:
                listener.detach()
            os.set_inheritable(number, True)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="2", LISTEN_FDNAMES="public:other")
        os.execv(sys.argv[3], sys.argv[3:])
        """

    @Test(
        "It serves on a Unix socket that it was given, and closes one that it does not use",
        .enabled(if: Program.pythonHas("socket")))
    func unixSocketActivation() async throws {
        let paths = (0..<2).map { _ in "/tmp/gh-\(UUID().uuidString.prefix(8)).sock" }
        defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
        let place = try GatewayProcess.makeDirectory()
        let (process, output) = try Program.start(
            "python3",
            ["-c", Self.unixActivation] + paths + [
                GatewayProcess.binary.path, "serve", "--admin", "off", "--state",
                "sqlite:\(place.path)/state.sqlite", "--keys", "\(place.path)/keys", "--listen", "127.0.0.1:1",
            ], errors: TestOutputs.sink(kind: "log"))
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        #expect(try Program.line(output) == "ready unix:\(paths[0])")
        let socket = try RawSocket(unixPath: paths[0])
        try socket.send("GET /.well-known/jwks.json HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(try socket.response().status == 200)
        #expect(throws: (any Error).self) { _ = try RawSocket(unixPath: paths[1]) }
    }

    /// Runs `Scripts/hand_over.py`, which replaces the gateway twice.
    ///
    /// - Parameter overTLS: whether all clients use TLS, and some of them HTTP/2.
    private static func handOver(
        _ style: String, overTLS: Bool, isolated: Bool = false
    ) async throws -> [String: Any] {
        let place = try GatewayProcess.makeDirectory()
        try await TestAccounts.add([.ada], url: GatewayProcess.stateURL(place))
        let script = ["python3", Program.script("hand_over.py"), style, GatewayProcess.binary.path, place.path]
        var command = script + TestUser.ada.credentials
        if overTLS {
            _ = try HTTP2Script.tls(in: place)
            command += ["certificate.pem", "key.pem"].map { "\(place.path)/\($0)" }
        }
        if isolated {
            // A network namespace of its own, whose settings no other process shares.
            let prepare = """
                python3 -c 'import fcntl, socket, struct
                s = socket.socket(); fcntl.ioctl(s, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))'
                echo 1 >/proc/sys/net/ipv4/tcp_migrate_req || exit 77
                exec "$@"
                """
            command = ["unshare", "--net", "sh", "-c", prepare, "sh"] + command
        }
        let result = try Program.run(command[0], Array(command.dropFirst()))
        guard let found = try? JSONSerialization.jsonObject(with: result.output) as? [String: Any] else {
            throw GatewayFailure(description: "\(style): status \(result.status): \(result.errors)")
        }
        return found
    }

    /// No request failed; every socket was closed 1001 by both that stopped, and went on at the next with the events
    /// of the time between, none missing and none twice.
    private static func expectNoGap(
        _ style: String, overTLS: Bool, isolated: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var (found, isRight) = ([String: Any](), false)
        // Once more, where the machine stops for longer than the drain, which ends what is under way.
        for _ in 0..<2 where !isRight {
            found = try await handOver(style, overTLS: overTLS, isolated: isolated)
            // Nothing excuses these.
            for name in ["gaps", "doubles"] {
                #expect(found[name] as? Int == 0, "\(name): \(found)", sourceLocation: sourceLocation)
            }
            isRight = hasNoGap(found, overTLS: overTLS)
        }
        #expect(isRight, "\(found)", sourceLocation: sourceLocation)
    }

    private static func hasNoGap(_ found: [String: Any], overTLS: Bool) -> Bool {
        func count(_ name: String) -> Int { found[name] as? Int ?? -1 }
        guard ["failed", "lost", "missing"].allSatisfy({ count($0) == 0 }), count("served") >= 400 else { return false }
        // Connections were used again. A request is sent again only where its connection ends, once for each gateway.
        guard count("reused") >= 100, count("retried") <= 2 * count("keepers") else { return false }
        guard !overTLS || count("over_http2") >= 50 else { return false }
        guard found["codes"] as? [Int] == [1001], count("reopened") == 2 * count("sockets") else { return false }
        // Events that were made while a socket was closed came when it was opened again.
        guard count("events") >= 30, count("resumed") > 0 else { return false }
        // Half of the drain of 3 s is there for it; they do not all come back at once.
        return found["spread"] as? Double ?? 0 > 0.7
    }

    /// With and without TLS, where a certificate can be made.
    private static let overTLS = HTTP2Script.canRun ? [false, true] : [false]

    private static let canMigrate =
        getuid() == 0
        && (try? Program.run("unshare", ["--net", "test", "-w", "/proc/sys/net/ipv4/tcp_migrate_req"]).status) == 0

    @Test(
        "With a socket that is held for it, a gateway is replaced without one failed request",
        .enabled(if: Program.pythonHas("websockets"), "needs python3 with websockets"),
        .quiet("the closes of many sockets are timed"), arguments: overTLS)
    func noGapByActivation(overTLS: Bool) async throws {
        try await Self.expectNoGap("activation", overTLS: overTLS)
    }

    @Test(
        "With two processes on one port and tcp_migrate_req, a gateway is replaced without one failed request",
        .enabled(
            if: canMigrate && Program.pythonHas("websockets"),
            "needs root, tcp_migrate_req, and python3 with websockets"), .quiet("the closes of many sockets are timed"),
        arguments: overTLS)
    func noGapByReusePort(overTLS: Bool) async throws {
        try await Self.expectNoGap("reuse_port", overTLS: overTLS, isolated: true)
    }
}
