import Foundation
import Testing

/// https upstreams of a private authority: who is trusted, under which name, and whom the gateway says it is.
@Suite(
    .enabled(if: Program.pythonHas("ssl") && ProxyInFront.find("openssl") != nil, "needs python3 and openssl"),
    .blocking)
struct UpstreamTLSTests {
    /// An authority with a certificate for the upstream and one for the gateway.
    private static let authority = """
        set -e
        cd "$1"
        new="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        openssl req -x509 $new -days 2 -keyout ca.key -out ca.pem -subj /CN=authority
        leaf() {
            openssl req -new $new -keyout "$1.key" -out "$1.csr" -subj "/CN=$1"
            printf "subjectAltName=DNS:%s.internal" "$1" > "$1.ext"
            openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile "$1.ext" \
                -out "$1.pem"
        }
        leaf orders
        leaf gateway
        """

    private static func makeAuthority() throws -> URL {
        let place = try GatewayProcess.makeDirectory()
        let made = try Program.run("sh", ["-c", authority, "sh", place.path])
        #expect(made.status == 0)
        return place
    }

    /// The upstream, which lives as long as this value.
    private final class Upstream {
        let port: Int
        private let process: Process

        init(_ arguments: [String]) throws {
            let started = try Program.start("python3", [Program.script("tls_upstream.py")] + arguments)
            process = started.process
            port = Int(try Program.line(started.output)) ?? 0
        }

        deinit {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    @Test("An upstream is served from only if its chain ends at a trusted root and its name is the one asked for")
    func verification() async throws {
        let place = try Self.makeAuthority()
        let upstream = try Upstream(["\(place.path)/orders.pem", "\(place.path)/orders.key"])
        let url = "https://127.0.0.1:\(upstream.port)"
        let authority = "upstream_ca: \(place.path)/ca.pem"
        let gateway = try await GatewayInProcess.start(
            """
            routes:
              - {path: /system, upstream: "\(url)", require: none}
              - {path: /system-named, upstream: "\(url)", require: none, upstream_name: orders.internal}
              - {path: /address, upstream: "\(url)", require: none, \(authority)}
              - {path: /misnamed, upstream: "\(url)", require: none, \(authority), upstream_name: gateway.internal}
              - {path: /named, upstream: "\(url)", require: none, \(authority), upstream_name: orders.internal}
            """, users: [], directory: place)
        defer { gateway.stop() }
        for path in ["/system", "/system-named", "/address", "/misnamed"] {
            let answer = try gateway.request("GET", path)
            expectRefused(answer, 502, "upstream_unavailable", path)
            let post = try gateway.request("POST", path, body: "secret")
            expectRefused(post, 502, "upstream_unavailable", path)
            let served = try gateway.request("GET", "/named")
            #expect(served.status == 200 && served.json["asked"] as? String == "orders.internal", "after \(path)")
        }
        gateway.stop()
        let log = gateway.log.split(separator: "\n").filter { $0.contains("an upstream does not serve") }
        for line in log {
            #expect(line.contains("upstream=127.0.0.1:\(upstream.port)") && line.contains("upstream_tls"), "\(line)")
        }
        #expect((1...3).contains(log.count), "one line in ten seconds: \(log)")
    }

    @Test("An upstream that asks who the gateway is, is shown its certificate")
    func clientCertificate() async throws {
        let place = try Self.makeAuthority()
        let upstream = try Upstream([
            "\(place.path)/orders.pem", "\(place.path)/orders.key", "\(place.path)/ca.pem",
        ])
        let terms = """
            upstream: "https://127.0.0.1:\(upstream.port)", require: none, \
            upstream_ca: \(place.path)/ca.pem, upstream_name: orders.internal
            """
        let own = "upstream_certificate: \(place.path)/gateway.pem, upstream_key: \(place.path)/gateway.key"
        let gateway = try await GatewayInProcess.start(
            """
            routes:
              - {path: /unknown, \(terms)}
              - {path: /known, \(terms), \(own)}
            """, users: [], directory: place)
        defer { gateway.stop() }
        expectRefused(try gateway.request("GET", "/unknown"), 502, "upstream_unavailable")
        let served = try gateway.request("GET", "/known")
        #expect(served.status == 200 && served.json["client"] as? String == "gateway")
    }

    @Test("A file that can't be used is a fault of the configuration, with its place")
    func badFiles() throws {
        let place = try Self.makeAuthority()
        let file = place.appendingPathComponent("gatehouse.yaml")
        func check(_ keys: String) throws -> CommandResult {
            let yaml = "routes:\n  - path: /a\n    upstream: https://a:1\n    \(keys)\n"
            try yaml.write(to: file, atomically: true, encoding: .utf8)
            return try GatewayProcess.run(["config", "check", "--config", file.path], in: place, stateful: false)
        }
        for keys in ["upstream_ca: missing.pem", "upstream_ca: ca.key", "upstream_ca: ."] {
            let result = try check(keys)
            #expect(
                result.status == 2 && result.errors.contains("gatehouse.yaml:4:18: routes[0].upstream_ca"), "\(result)")
        }
        #expect(
            try check("upstream_certificate: gateway.pem\n    upstream_key: ca.pem").errors.contains("upstream_key"))
        #expect(try check("upstream_ca: ca.pem").status == 0)
        #expect(try check("upstream_certificate: gateway.pem\n    upstream_key: gateway.key").status == 0)
    }
}
