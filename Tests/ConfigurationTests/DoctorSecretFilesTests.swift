import Foundation
import Testing

@testable import gatehouse

@Suite("What the doctor says of files that hold a secret")
struct DoctorSecretFilesTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    /// The findings about secrets of a configuration, all of whose files have these permissions.
    private func findings(mode: Int) async throws -> [DoctorFinding] {
        let manager = FileManager.default
        try manager.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? manager.removeItem(at: directory) }
        let (file, url, secret) = (path("g.yaml"), path("url"), path("secret"))
        let hook = path("hook")
        let yaml = """
            state: {url_file: '\(url)'}
            server: {admin: off}
            routes: [{path: /a, headers_file: {X-Api-Key: '\(secret)'}}]
            events: [{url_file: '\(hook)', events: [session.ended]}]
            identity_providers:
              - name: a
                issuer: https://127.0.0.1:1
                client_id: b
                client_secret_file: '\(secret)'
            """
        let texts = [
            (file, yaml), (url, "postgres://g:hunter2@127.0.0.1:1/g"), (secret, "hunter2hunter2"),
            (hook, "https://127.0.0.1:1/?sig=hunter2"),
        ]
        for (name, text) in texts {
            try text.write(toFile: name, atomically: true, encoding: .utf8)
            try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: name)
        }
        let loader = ConfigurationLoader(environment: [:]) { path in
            FileManager.default.contents(atPath: path).map { Array($0) }
        }
        let loaded = try loader.load(file: file)
        let facts = await DoctorSurvey(loaded: loaded).facts()
        return DoctorJudgement(loaded: loaded, facts: facts).findings
            .filter { $0.check == "config" && $0.message.contains("secret") }
    }

    private func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    @Test("A file of a secret that everyone can read is named, and not the configuration that names it")
    func open() async throws {
        let found = try await findings(mode: 0o644)
        #expect(
            found.map(\.key) == [
                "state.url_file", "routes[0].headers_file.X-Api-Key", "events[0].url_file",
                "identity_providers[0].client_secret_file",
            ])
        #expect(found.first?.message.hasPrefix(path("url")) == true)
        #expect(found.last?.message.hasPrefix(path("secret")) == true)
    }

    @Test("Of a configuration that everyone can read, a webhook's path is a note, and its query a fault")
    func webhooks() throws {
        let yaml = """
            events:
              - {url: 'https://a.example/hooks/x', events: [session.ended]}
              - {url: 'https://a.example/hooks?key=x', events: [session.ended]}
              - {url: 'https://b.example/', events: [session.ended]}
            """
        var facts = DoctorFacts(now: 0, store: .missing(path: "x"))
        facts.file = .init(path: "g.yaml", mode: 0o644, isReadable: true)
        let found = DoctorJudgement(loaded: try load(yaml, file: "g.yaml"), facts: facts).findings
            .filter { $0.key.hasPrefix("events") }
        #expect(found.map(\.key) == ["events[0].url", "events[1].url"])
        #expect(found.map(\.level) == [.note, .wrong])
    }

    @Test("Files for a group are in order")
    func closed() async throws {
        let found = try await findings(mode: 0o640)
        #expect(found.isEmpty)
    }
}
