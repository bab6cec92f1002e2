import Foundation

/// The HTTP/2 clients in `Scripts/`, which see the gateway through Python's `h2`.
enum HTTP2Script {
    struct Failure: Error, CustomStringConvertible { let description: String }

    static let canRun = Program.pythonHas("h2") && (try? Program.run("openssl", ["version"]).status) == 0

    /// Makes a certificate for `localhost` and returns the configuration that uses it.
    static func tls(in place: URL) throws -> String {
        let (key, certificate) = (place.path + "/key.pem", place.path + "/certificate.pem")
        let made = try Program.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-keyout", key, "-out", certificate, "-subj", "/CN=localhost",
            ])
        guard made.status == 0 else { throw Failure(description: made.errors) }
        return "server: {tls: {certificate: \(certificate), key: \(key)}}"
    }

    /// Runs a script against a gateway and returns the JSON object it prints.
    static func run(_ name: String, _ gateway: any GatewayUnderTest, _ arguments: [String]) throws -> [String: Any] {
        let script = GatewayProcess.packageRoot.appendingPathComponent("Tests/EndToEndTests/Scripts/\(name).py")
        let result = try Program.run("python3", [script.path, "\(gateway.port)"] + arguments)
        guard let found = try? JSONSerialization.jsonObject(with: result.output) as? [String: Any] else {
            throw Failure(description: "\(name): \(result.errors)")
        }
        return found
    }
}

extension TestUser {
    /// What the scripts log in with.
    var credentials: [String] { [email, password] }
}
