import Foundation

/// The HTTP/2 clients in `Scripts/`, which see the gateway through Python's `h2`.
enum HTTP2Script {
    struct Failure: Error, CustomStringConvertible { let description: String }

    static let canRun =
        (try? run("python3", ["-c", "import h2"]).status) == 0 && (try? run("openssl", ["version"]).status) == 0

    /// Makes a certificate for `localhost` and returns the configuration that uses it.
    static func tls(in place: URL) throws -> String {
        let (key, certificate) = (place.path + "/key.pem", place.path + "/certificate.pem")
        let made = try run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-keyout", key, "-out", certificate, "-subj", "/CN=localhost",
            ])
        guard made.status == 0 else { throw Failure(description: made.errors) }
        return "server: {tls: {certificate: \(certificate), key: \(key)}}"
    }

    /// Runs a script against a gateway and returns the JSON object it prints.
    static func run(_ name: String, _ gateway: GatewayProcess, _ arguments: [String]) throws -> [String: Any] {
        let script = GatewayProcess.packageRoot.appendingPathComponent("Tests/EndToEndTests/Scripts/\(name).py")
        let result = try run("python3", [script.path, "\(gateway.port)"] + arguments)
        guard let found = try? JSONSerialization.jsonObject(with: result.output) as? [String: Any] else {
            throw Failure(description: "\(name): \(result.errors)")
        }
        return found
    }

    private static func run(
        _ program: String, _ arguments: [String]
    ) throws -> (status: Int32, output: Data, errors: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let (stdout, stderr) = (Pipe(), Pipe())
        process.standardOutput = stdout
        process.standardError = stderr
        try process.run()
        let output = stdout.fileHandleForReading.readDataToEndOfFile()
        let errors = stderr.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, output, String(decoding: errors, as: UTF8.self))
    }
}

extension TestUser {
    /// What the scripts log in with.
    var credentials: [String] { [email, password] }
}
