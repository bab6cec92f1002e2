import BasicsForTests
import Foundation
import Testing

/// Clients whose id is the URL of their metadata, served by Python over TLS.
@Suite(.enabled(if: HTTP2Script.canRun, "needs python3 and openssl"), .blocking)
struct AgentDocumentTests {
    private struct Documents {
        let process: Process
        let port: Int
        let certificate: String

        init(_ place: URL) throws {
            let key = place.path + "/documents-key.pem"
            certificate = place.path + "/documents.pem"
            let made = try Program.run(
                "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-keyout", key, "-out", certificate, "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost",
                ])
            #expect(made.status == 0, "\(made.errors)")
            let started = try Program.start("python3", [Program.script("client_documents.py"), certificate, key])
            process = started.process
            port = try #require(Int(try Program.line(started.output)))
        }

        func id(_ path: String) -> String { "https://localhost:\(port)/\(path)" }

        func count() throws -> Int {
            let answer = try Program.run("curl", ["-s", "--cacert", certificate, id("count")])
            return Int(String(decoding: answer.output, as: UTF8.self)) ?? -1
        }

        // A program that inherits blocked signals is not ended by SIGTERM.
        func stop() { kill(process.processIdentifier, SIGKILL) }
    }

    private static func configuration(_ upstream: String, _ clients: String, limits: String = "false") -> String {
        """
        clients: {\(clients)}
        limits: {enabled: \(limits)}
        routes: [{path: /mcp, upstream: \(upstream), resource: {name: Tools, scopes: [read]}}]
        """
    }

    @Test("A client is what its document says, fetched once; one that lies, redirects, is huge or slow is refused")
    func documents() async throws {
        let upstream = try RecordingUpstream()
        let place = try GatewayProcess.makeDirectory()
        let documents = try Documents(place)
        defer {
            upstream.stop()
            documents.stop()
        }
        let gateway = try await GatewayInProcess.start(
            Self.configuration(upstream.url, "allow_private: true, ca: \"\(documents.certificate)\""),
            directory: place)
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        func agent(_ path: String) -> Agent {
            Agent(gateway, clientID: documents.id(path), redirect: "https://app.example/cb")
        }
        let good = agent("good")
        let page = try good.authorize(ada)
        #expect(page.status == 200 && page.text.contains("Document client") && page.text.contains("localhost"))
        #expect(page.text.contains("app.example"), "\(page.text)")
        let tokens = try good.tokens(ada)
        expectStatus(try good.call(tokens.access), 200)
        #expect(upstream.requests.last?["x-gatehouse-client"] == documents.id("good"))
        expectStatus(try good.refresh(tokens.refresh), 200)
        #expect(try documents.count() == 1)
        for path in ["foreign", "secret", "huge", "redirect", "missing", "text", "slow"] {
            let answer = try agent(path).authorize(ada)
            #expect(answer.status == 400 && answer["location"] == nil, "\(path): \(answer.status)")
        }
        // The redirect was not followed.
        #expect(try documents.count() == 8)
        // The operator can disable it like any other.
        #expect(try GatewayProcess.run(["clients", "disable", documents.id("good")], in: place).status == 0)
        expectStatus(try good.authorize(ada), 400)
        let token = tokens.access
        #expect(try await eventually { try good.call(token).status == 401 })
    }

    @Test("A document that nobody has authorised yet can be disabled in advance, and is not fetched then")
    func inAdvance() async throws {
        let upstream = try RecordingUpstream()
        let place = try GatewayProcess.makeDirectory()
        let documents = try Documents(place)
        defer {
            upstream.stop()
            documents.stop()
        }
        let gateway = try await GatewayInProcess.start(
            Self.configuration(upstream.url, "allow_private: true, ca: \"\(documents.certificate)\""),
            directory: place)
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let id = documents.id("good")
        #expect(try GatewayProcess.run(["clients", "disable", id], in: place).status == 0)
        let listed = try GatewayProcess.run(["clients", "list"], in: place)
        #expect(listed.output.contains(id), "\(listed.output)")
        expectStatus(try Agent(gateway, clientID: id, redirect: "https://app.example/cb").authorize(ada), 400)
        #expect(try documents.count() == 0)
        // What is no id of a client can't be disabled: a mistyped one would be taken for done.
        for wrong in ["https://localhost", "https://localhost/a/%2e%2e/b", "http://localhost/good"] {
            let refused = try GatewayProcess.run(["clients", "disable", wrong], in: place)
            #expect(refused.status == 1 && refused.errors.contains("clients list"), "\(wrong)")
        }
    }

    @Test("Private addresses are not connected to, and fetches are limited")
    func limits() async throws {
        let upstream = try RecordingUpstream()
        let place = try GatewayProcess.makeDirectory()
        let documents = try Documents(place)
        defer {
            upstream.stop()
            documents.stop()
        }
        let gateway = try await GatewayInProcess.start(
            Self.configuration(upstream.url, "ca: \"\(documents.certificate)\"", limits: "true"), directory: place)
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        for index in 1...61 {
            let agent = Agent(gateway, clientID: documents.id("\(index)"), redirect: "https://app.example/cb")
            expectStatus(try agent.authorize(ada), index <= 60 ? 400 : 429)
        }
        #expect(try documents.count() == 0)
    }
}
