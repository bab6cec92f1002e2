import Foundation
import Testing

/// What TLS the public listener speaks, as OpenSSL finds it.
@Suite(.enabled(if: ProxyInFront.find("openssl") != nil, "needs openssl"), .blocking)
struct CipherSuiteTests {
    private static let good = [
        "AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305",
    ]
    /// Without forward secrecy, or without authenticated encryption.
    private static let bad = [
        "AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA", "AES256-SHA", "ECDHE-%-AES128-SHA",
        "ECDHE-%-AES256-SHA",
    ]

    @Test("TLS 1.2 has forward-secret suites with authenticated encryption and no others", arguments: ["RSA", "ECDSA"])
    func suites(_ kind: String) async throws {
        let place = try GatewayProcess.makeDirectory()
        let (key, certificate) = (place.path + "/key.pem", place.path + "/certificate.pem")
        let made = try Program.run(
            "openssl",
            ["req", "-x509", "-nodes", "-days", "2", "-keyout", key, "-out", certificate, "-subj", "/CN=localhost"]
                + (kind == "RSA" ? ["-newkey", "rsa:2048"] : ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]))
        #expect(made.status == 0, "\(made.errors)")
        let gateway = try await GatewayInProcess.start(
            """
            server: {tls: {certificate: \(certificate), key: \(key)}}
            tokens: {issuer: "https://localhost"}
            """, users: [], directory: place)
        defer { gateway.stop() }
        func connects(_ arguments: [String]) throws -> Bool {
            // At the end of its input, here at once, it closes the connection in order.
            let script = "exec openssl s_client \"$@\" </dev/null"
            let target = ["-connect", "127.0.0.1:\(gateway.port)", "-servername", "localhost"]
            return try Program.run("sh", ["-c", script, "sh"] + target + arguments).status == 0
        }
        for suite in Self.good {
            #expect(try connects(["-tls1_2", "-cipher", "ECDHE-\(kind)-\(suite)"]), "\(suite)")
        }
        for suite in Self.bad {
            // Level 0: what this OpenSSL would not offer by itself is offered all the same.
            let name = suite.replacing("%", with: kind)
            #expect(try !connects(["-tls1_2", "-cipher", "\(name):@SECLEVEL=0"]), "\(name)")
        }
        #expect(try connects(["-tls1_3"]))
        #expect(try !connects(["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"]))
    }
}
