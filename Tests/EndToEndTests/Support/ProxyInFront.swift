import BasicsForTests
import Foundation

/// A proxy of a distribution, run in front of the gateway for as long as a test lasts.
final class ProxyInFront: Sendable {
    private let process: Process
    let port: Int

    /// Where the program is, if it is installed.
    static func find(_ name: String) -> String? {
        ["/usr/sbin/", "/usr/bin/", "/usr/local/bin/", "/usr/local/sbin/"].map { $0 + name }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Whether there is a curl that speaks HTTP/2, and an openssl to make its certificate.
    static let hasHTTP2Tools: Bool = {
        guard find("openssl") != nil, let curl = find("curl"), let told = try? Program.run(curl, ["--version"]) else {
            return false
        }
        return String(decoding: told.output, as: UTF8.self).contains("HTTP2")
    }()

    /// Writes its configuration, starts it and waits until it accepts connections.
    init(
        _ program: String, arguments: (String) -> [String], configuration: String,
        environment: [String: String] = [:], port: Int, in place: URL
    ) async throws {
        let file = place.appendingPathComponent("proxy.conf")
        try configuration.write(to: file, atomically: true, encoding: .utf8)
        process = Process()
        self.port = port
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments(file.path)
        process.currentDirectoryURL = place
        let usual = [
            "HOME": place.path, "XDG_DATA_HOME": place.path, "XDG_CONFIG_HOME": place.path, "PATH": "/usr/bin:/bin",
        ]
        process.environment = usual.merging(environment) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try Program.start(process) {}
        guard try await eventually({ (try? RawSocket(port: port)) != nil }) else {
            stop()
            throw RawSocket.Failure(description: "\(program) did not start")
        }
    }

    func request(_ method: String, _ path: String, headers: [(String, String)] = []) throws -> RawResponse {
        let socket = try RawSocket(port: port)
        let fields = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
        try socket.send("\(method) \(path) HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\(fields)\r\n")
        return try socket.response(toHead: method == "HEAD")
    }

    /// At once and without asking: a program that was started from here may have SIGTERM blocked.
    func stop() {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }
}
