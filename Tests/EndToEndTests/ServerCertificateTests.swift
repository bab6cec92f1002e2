import BasicsForTests
import Foundation
import Testing

/// Certificates by name, and certificates of clients, as curl and OpenSSL see them.
@Suite(.enabled(if: ProxyInFront.hasHTTP2Tools, "curl with HTTP/2 and openssl are needed"), .blocking)
struct ServerCertificateTests {
    /// An authority, the gateway's certificates, and those of clients: good, expired, and of another authority.
    private static let authority = """
        set -e
        cd "$1"
        new="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        for name in ca foreign; do
            openssl req -x509 $new -days 2 -keyout $name.key -out $name.pem -subj /CN=$name
        done
        leaf() {
            openssl req -new $new -keyout "$1.key" -out "$1.csr" -subj "/CN=$1"
            printf "subjectAltName=DNS:%s" "$2" > "$1.ext"
            openssl x509 -req -in "$1.csr" -CA $3.pem -CAkey $3.key -CAcreateserial -days $4 -extfile "$1.ext" \
                -out "$1.pem"
        }
        leaf usual usual.example ca 2
        leaf shop shop.example ca 2
        leaf shop2 shop.example ca 2
        leaf wild '*.wild.example' ca 2
        leaf client client ca 2
        leaf expired expired ca -1
        leaf stranger stranger foreign 2
        """

    private final class Setup {
        let place: URL
        let upstream: RecordingUpstream
        let gateway: GatewayInProcess

        init(_ routes: (String) -> String) async throws {
            place = try GatewayProcess.makeDirectory()
            let made = try Program.run("sh", ["-c", ServerCertificateTests.authority, "sh", place.path])
            guard made.status == 0 else { throw HTTP2Script.Failure(description: made.errors) }
            upstream = try RecordingUpstream()
            gateway = try await GatewayInProcess.start(
                Self.yaml(place, routes(upstream.url)), users: [], directory: place)
        }

        static func yaml(_ place: URL, _ routes: String) -> String {
            """
            server:
              threads: 2
              trusted_proxies: [127.0.0.1]
              tls:
                certificate: \(place.path)/usual.pem
                key: \(place.path)/usual.key
                client_ca: \(place.path)/ca.pem
                certificates:
                  - {hosts: [shop.example], certificate: \(place.path)/shop.pem, key: \(place.path)/shop.key}
                  - {hosts: ["*.wild.example"], certificate: \(place.path)/wild.pem, key: \(place.path)/wild.key}
            errors: {explain: true}
            tokens: {issuer: "https://usual.example"}
            \(routes)
            """
        }

        /// The status, the body and the exit status of curl, which verifies the gateway's certificate.
        func curl(
            _ host: String, _ path: String = "/", version: String = "--http1.1", client: String? = nil,
            _ more: [String] = []
        ) throws -> (status: Int, text: String, exit: Int32) {
            let port = gateway.port
            var arguments = [
                "--silent", "--max-time", "60", "--cacert", "\(place.path)/ca.pem", version, "--resolve",
                "\(host):\(port):127.0.0.1", "--write-out", "\n%{http_code}",
            ]
            if let client {
                arguments += ["--cert", "\(place.path)/\(client).pem", "--key", "\(place.path)/\(client).key"]
            }
            let result = try Program.run("curl", arguments + more + ["https://\(host):\(port)\(path)"])
            let lines = String(decoding: result.output, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            return (
                Int(lines.last ?? "") ?? 0, lines.dropLast().joined(separator: "\n"), result.status
            )
        }

        /// The common name of the certificate that is shown for a name; nil asks without one.
        func shown(for name: String?) throws -> String {
            let script =
                "openssl s_client \"$@\" </dev/null 2>/dev/null | openssl x509 -noout -subject -nameopt multiline"
            let arguments =
                ["-connect", "127.0.0.1:\(gateway.port)"] + (name.map { ["-servername", $0] } ?? ["-noservername"])
            let result = try Program.run("sh", ["-c", script, "sh"] + arguments)
            let line = String(decoding: result.output, as: UTF8.self).split(separator: "\n").first {
                $0.contains("commonName")
            }
            return line?.split(separator: " ").last.map(String.init) ?? ""
        }

        func stop() {
            gateway.stop()
            upstream.stop()
        }
    }

    private static let versions = ["--http1.1", "--http2"]

    @Test("The name in the handshake chooses the certificate; any other name, and none, get the usual one")
    func byName() async throws {
        let setup = try await Setup { "routes: [{path: /, upstream: \"\($0)\", require: none}]" }
        defer { setup.stop() }
        for (name, common) in [
            ("shop.example", "shop"), ("SHOP.example", "shop"), ("a.wild.example", "*.wild.example"),
            ("a.b.wild.example", "usual"), ("wild.example", "usual"), ("other.example", "usual"), (nil, "usual"),
        ] as [(String?, String)] {
            let wanted = common == "*.wild.example" ? "wild" : common
            #expect(try setup.shown(for: name) == wanted, "\(name ?? "no name")")
        }
        for version in Self.versions {
            #expect(try setup.curl("shop.example", version: version).text == "ok")
            #expect(try setup.curl("a.wild.example", version: version).text == "ok")
            // 60: the certificate is for another name.
            #expect(try setup.curl("other.example", version: version).exit == 60)
        }
    }

    @Test("Changed files and a reload bring other certificates for new connections")
    func reload() async throws {
        let routes = { (url: String) in "routes: [{path: /, upstream: \"\(url)\", require: none}]" }
        let setup = try await Setup(routes)
        defer { setup.stop() }
        #expect(try setup.shown(for: "shop.example") == "shop")
        for kind in ["pem", "key"] {
            let new = try Data(contentsOf: setup.place.appendingPathComponent("shop2.\(kind)"))
            try new.write(to: setup.place.appendingPathComponent("shop.\(kind)"))
        }
        #expect(try await eventually { try setup.shown(for: "shop.example") == "shop2" })
        try await setup.gateway.change(
            to: Setup.yaml(setup.place, routes(setup.upstream.url)).replacing(
                "hosts: [shop.example]", with: "hosts: [new.example]"))
        #expect(try setup.shown(for: "shop.example") == "usual" && setup.shown(for: "new.example") == "shop2")
    }

    @Test("A certificate in a volume of Kubernetes is followed, where only the link of the directory changes")
    func linkedVolume() async throws {
        let routes = { (url: String) in "routes: [{path: /, upstream: \"\(url)\", require: none}]" }
        let setup = try await Setup(routes)
        defer { setup.stop() }
        // As the kubelet does it: shop.pem -> ..data/shop.pem, ..data -> ..1, and the new ..data is put into its place.
        let script = """
            set -e
            cd "$1"
            mkdir ..1 ..2
            for kind in pem key; do
                mv shop.$kind ..1/
                mv shop2.$kind ..2/shop.$kind
                touch -r ..1/shop.$kind ..2/shop.$kind
                ln -s ..data/shop.$kind shop.$kind
            done
            ln -s ..1 ..data
            """
        let swap = "cd \"$1\" && ln -s ..2 ..data_tmp && mv -T ..data_tmp ..data"
        let prepared = try Program.run("sh", ["-c", script, "sh", setup.place.path])
        #expect(prepared.status == 0, "\(prepared.errors)")
        try await setup.gateway.change(to: Setup.yaml(setup.place, routes(setup.upstream.url)))
        #expect(try setup.shown(for: "shop.example") == "shop")
        #expect(try Program.run("sh", ["-c", swap, "sh", setup.place.path]).status == 0)
        #expect(try await eventually { try setup.shown(for: "shop.example") == "shop2" })
    }

    private static func requiring(_ url: String) -> String {
        """
        routes:
          - {path: /, upstream: "\(url)", require: none}
          - {path: /, host: shop.example, upstream: "\(url)", require: none, client_certificate: required}
          - {path: /told, host: shop.example, upstream: "\(url)", require: none, client_certificate: required,
             forward_client_certificate: true}
        """
    }

    @Test("A route that requires a client certificate is closed to those without a valid one", arguments: versions)
    func required(_ version: String) async throws {
        let setup = try await Setup(Self.requiring)
        defer { setup.stop() }
        let good = try setup.curl("shop.example", version: version, client: "client")
        #expect(good.status == 200 && good.text == "ok")
        let missing = try setup.curl("shop.example", version: version)
        #expect(missing.status == 403 && missing.text.contains("client_certificate_missing"))
        // These fail in the handshake, or as soon as the client reads (TLS 1.3).
        for client in ["expired", "stranger"] {
            let refused = try setup.curl("shop.example", version: version, client: client)
            #expect(refused.status == 0 && refused.exit != 0, "\(client)")
        }
        // Other hosts ask for nothing.
        #expect(try setup.curl("usual.example", version: version).text == "ok")
        #expect(setup.upstream.requests.count == 2)
    }

    @Test("Host and :authority of another name than the handshake's don't get around it: 421", arguments: versions)
    func misdirected(_ version: String) async throws {
        let setup = try await Setup(Self.requiring)
        defer { setup.stop() }
        for client in [nil, "client"] {
            for host in ["shop.example", "SHOP.EXAMPLE", "shop.example.", "shop.example:443"] {
                let answer = try setup.curl(
                    "usual.example", "/told", version: version, client: client, ["--header", "Host: \(host)"])
                #expect(answer.status == 421 && answer.text.contains("client_certificate_not_asked"), "\(host)")
            }
        }
        #expect(setup.upstream.requests.isEmpty)
        // The other way round nothing is gained: who has shown one may ask for a host that needs none.
        let other = try setup.curl(
            "shop.example", version: version, client: "client", ["--header", "Host: usual.example"])
        #expect(other.text == "ok")
        // Without a name in the handshake the client is asked, as it may mean any host.
        let script =
            "printf 'GET / HTTP/1.1\\r\\nHost: shop.example\\r\\nConnection: close\\r\\n\\r\\n' | "
            + "openssl s_client -quiet -ign_eof -noservername \"$@\" 2>/dev/null"
        let files = ["-cert", "\(setup.place.path)/client.pem", "-key", "\(setup.place.path)/client.key"]
        let nameless = try Program.run(
            "sh", ["-c", script, "sh", "-connect", "127.0.0.1:\(setup.gateway.port)"] + files)
        #expect(String(decoding: nameless.output, as: UTF8.self).hasPrefix("HTTP/1.1 200 "))
    }

    @Test("The upstream is told the certificate only where the route says so, and never a client's own field")
    func forwarded() async throws {
        let setup = try await Setup(Self.requiring)
        defer { setup.stop() }
        let forged = ["--header", "Client-Cert: :AAAA:", "--header", "Client-Cert-Chain: :AAAA:"]
        let pem = try String(contentsOf: setup.place.appendingPathComponent("client.pem"), encoding: .utf8)
        let der = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
        for version in Self.versions {
            for path in ["/", "/told"] {
                setup.upstream.forget()
                #expect(
                    try setup.curl("shop.example", path, version: version, client: "client", forged).status == 200)
                let request = try #require(setup.upstream.requests.first)
                #expect(request.all("Client-Cert") == (path == "/told" ? [":\(der):"] : []))
                #expect(request.all("Client-Cert-Chain").isEmpty)
            }
            setup.upstream.forget()
            #expect(try setup.curl("usual.example", version: version, forged).status == 200)
            #expect(setup.upstream.requests.first?["client-cert"] == nil)
        }
    }

    @Test("A resumed handshake has the certificate of the first, and none where there was none")
    func resumed() async throws {
        let setup = try await Setup(Self.requiring)
        defer { setup.stop() }
        let script = """
            session="$1"; shift
            ask() {
                printf 'GET / HTTP/1.1\\r\\nHost: shop.example\\r\\nConnection: close\\r\\n\\r\\n' \
                    | openssl s_client -ign_eof -servername shop.example "$@" 2>/dev/null
            }
            ask -sess_out "$session" "$@" | grep -aoE 'HTTP/1[.]1 [0-9]+'
            ask -sess_in "$session" -connect "$2" "$3" | grep -aoE 'HTTP/1[.]1 [0-9]+|^Reused'
            """
        for (version, files) in [("-tls1_2", true), ("-tls1_3", true), ("-tls1_3", false)] {
            let place = setup.place.path
            let shown = files ? ["-cert", "\(place)/client.pem", "-key", "\(place)/client.key"] : []
            let result = try Program.run(
                "sh",
                ["-c", script, "sh", "\(place)/session", "-connect", "127.0.0.1:\(setup.gateway.port)", version] + shown
            )
            let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n")
            let answers = lines.filter { $0.hasPrefix("HTTP/1.1") }
            let status = files ? "200" : "403"
            #expect(answers == ["HTTP/1.1 \(status)", "HTTP/1.1 \(status)"], "\(version): \(lines)")
            #expect(lines.contains { $0.hasPrefix("Reused") }, "\(version): \(lines)")
        }
    }

    @Test("The decision endpoint does not vouch for certificates that it has not seen")
    func decision() async throws {
        let setup = try await Setup(Self.requiring)
        defer { setup.stop() }
        let asked = ["--header", "X-Forwarded-Uri: /", "--header", "X-Forwarded-Host: shop.example"]
        let answer = try setup.curl("shop.example", "/api/auth/verify", client: "client", asked)
        #expect(answer.status == 403 && answer.text.contains("\"client_certificate\""))
    }
}
