import BasicsForTests
import Foundation
import Testing

/// What happens to the configuration while the gateway starts.
@Suite(.blocking) struct ChangesDuringStartTests {
    /// The configuration is a pipe, from which the gateway reads `first.yaml` in the midst of its start. `next.yaml` is
    /// in its place before that.
    private static let script = """
        set -e
        cd "$1"
        mkfifo gatehouse.yaml
        (
            # The gateway has opened the pipe when this has.
            exec 3>gatehouse.yaml
            mv -f next.yaml gatehouse.yaml
            if [ "$3" = hangup ]; then kill -HUP $$; fi
            cat first.yaml >&3
        ) &
        exec "$2" serve --config gatehouse.yaml --listen 127.0.0.1:0 --admin off --state sqlite:state.sqlite --keys keys
        """

    @Test("A change during the start is applied once the gateway serves", arguments: ["hangup", "watch"])
    func change(by way: String) async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let place = try GatewayProcess.makeDirectory()
        for (file, path) in [("first.yaml", "/a"), ("next.yaml", "/b")] {
            let yaml = """
                server: {watch: \(way == "watch")}
                routes: [{path: \(path), upstream: '\(upstream.url)', require: none}]

                """
            try yaml.write(to: place.appendingPathComponent(file), atomically: true, encoding: .utf8)
        }
        let (process, output) = try Program.start(
            "sh", ["-c", Self.script, "sh", place.path, GatewayProcess.binary.path, way])
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        let ready = try Program.line(output)
        let port = try #require(ready.split(separator: ":").last.flatMap { Int($0) }, "\(ready)")
        #expect(
            try await eventually {
                let socket = try RawSocket(port: port)
                try socket.send("GET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                return try socket.response().status == 200
            })
    }
}
