import EdgeConfiguration
import Testing

@testable import gatehouse

/// Values of lists' entries that stand in files of their own.
@Suite("Values in files")
struct SecretFilesTests {
    private static func loader(_ yaml: String, _ files: [String: String]) -> ConfigurationLoader {
        ConfigurationLoader(environment: [:]) { path throws(ConfigurationFault) in
            if path == "forbidden" { throw ConfigurationFault(place: "", message: "forbidden: Permission denied") }
            return (path == "g.yaml" ? yaml : files[path]).map { Array($0.utf8) }
        }
    }

    private static func faults(_ yaml: String, _ files: [String: String] = [:]) -> [String] {
        do throws(ConfigurationFaults) {
            _ = try loader(yaml, files).load(file: "g.yaml")
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }

    private static let files = [
        "key": "hunter2\n", "hook": "https://h.example/hook?sig=hunter2\n",
        "keys-url": "https://u:hunter2@i.example/keys\n", "probe": "/healthz?auth=hunter2\n",
        "token-url": "https://i.example/token?key=hunter2",
    ]

    private static let yaml = """
        routes:
          - path: /a
            upstream: http://127.0.0.1:1
            headers: {X-Env: prod}
            headers_file: {X-Api-Key: key}
            health: {path_file: probe, interval: 7s}
        issuers:
          - {issuer: 'https://i.example', audience: [a], tenants: [t], jwks_file: keys-url}
        events:
          - {url_file: hook, events: [session.ended]}
        identity_providers:
          - name: company
            kind: oauth2
            issuer: https://i.example
            client_id: gatehouse
            client_secret_file: key
            authorization_endpoint: https://i.example/authorize
            token_endpoint_file: token-url
            userinfo_endpoint: https://i.example/userinfo
        """

    @Test("They count like values that are written out, without a final newline, and are not shown")
    func values() throws {
        let loaded = try Self.loader(Self.yaml, Self.files).load(file: "g.yaml")
        let configuration = loaded.configuration
        let route = try #require(configuration.routes.first)
        #expect(route.headers == [.init(name: "X-Env", value: "prod"), .init(name: "X-Api-Key", value: "hunter2")])
        #expect(route.health?.path == "/healthz?auth=hunter2" && route.health?.interval == 7_000)
        #expect(configuration.issuers.first?.jwks == "https://u:hunter2@i.example/keys")
        #expect(configuration.events.first?.url == "https://h.example/hook?sig=hunter2")
        #expect(configuration.identityProviders.first?.tokenEndpoint == "https://i.example/token?key=hunter2")
        #expect(!ConfigurationText.yaml(configuration).contains("hunter2"))
        let shown = ConfigurationText.yaml(configuration, files: loaded.secretFiles)
        #expect(shown.contains("headers: {X-Env: redacted}\n    headers_file: {X-Api-Key: key}\n"), "\(shown)")
        let again = try Self.loader(shown, Self.files).load(file: "g.yaml").configuration.routes.first
        #expect(again?.headers.map(\.value) == ["redacted", "hunter2"])
        #expect(loaded.place(of: "events[0].url").hasPrefix("g.yaml:10:"))
        #expect(
            Set(loaded.secretFiles.map(\.key)) == [
                "routes[0].headers_file.X-Api-Key", "routes[0].health.path_file", "issuers[0].jwks_file",
                "events[0].url_file", "identity_providers[0].token_endpoint_file",
            ])
    }

    @Test(
        "A value that is given twice names both lines",
        arguments: [
            ("events:\n  - events: [session.ended]\n    url: https://h.example\n    url_file: hook", 4, 3),
            (
                "issuers:\n  - {issuer: 'https://i.example', audience: [a],\n     jwks: k,\n     jwks_file: keys-url}",
                4,
                3
            ),
            ("routes:\n  - path: /a\n    headers: {X-Api-Key: a}\n    headers_file: {x-api-key: key}", 4, 3),
            ("routes:\n  - path: /a\n    health: {path: /,\n      path_file: probe}\n    upstream: http://a:1", 4, 3),
        ])
    func both(yaml: String, line: Int, other: Int) throws {
        let found = Self.faults(yaml, Self.files)
        let first = try #require(found.first)
        #expect(found.count == 1 && first.hasPrefix("g.yaml:\(line):"), "\(found)")
        #expect(first.contains("g.yaml:\(other):") && first.contains("give one of the two"), "\(first)")
    }

    @Test(
        "A file that can't be read, or holds no such value, is one fault of its line, which does not repeat the value",
        arguments: [
            ("events:\n  - events: [session.ended]\n    url_file: nowhere", "no such file"),
            ("events:\n  - events: [session.ended]\n    url_file: forbidden", "Permission denied"),
            ("events:\n  - events: [session.ended]\n    url_file: key", "expected a URL"),
            ("events:\n  - events: [session.ended]\n    url_file: [a]", "the path of a file"),
            ("routes:\n  - path: /a\n    headers_file: {X-Api-Key: nowhere}", "no such file"),
            ("routes:\n  - path: /a\n    headers_file: {Connection: key}", "by the gateway itself"),
            ("routes:\n  - path: /a\n    headers_file: {X-Api-Key: two-lines}", "visible ASCII"),
            ("routes:\n  - path: /a\n    headers_file: key", "expected a mapping"),
            ("issuers:\n  - {issuer: 'https://i.example', audience: [a],\n     jwks_file: nowhere}", "no such file"),
            ("issuers:\n  - {issuer: 'https://i.example', audience: [a],\n     jwks_file: key}", "belongs in 'jwks'"),
        ])
    func unusable(yaml: String, words: String) throws {
        let found = Self.faults(yaml, Self.files.merging(["two-lines": "hunter2\nhunter2\n"]) { $1 })
        let first = try #require(found.first)
        #expect(found.count == 1 && first.hasPrefix("g.yaml:3:") && first.contains(words), "\(found)")
        #expect(!first.contains("hunter2"), "\(first)")
    }

    @Test(
        "A file that is empty or not there is named with its key; what is no path may be the secret itself",
        arguments: [
            ("/run/empty", "/run/empty: empty: put the value there"),
            ("/run/nowhere", "/run/nowhere: no such file: correct the path, or create it"),
            ("hunter2", "the file: no such file: correct the path, or create it"),
        ])
    func unnamed(path: String, message: String) {
        let files = ["/run/empty": "\n"]
        #expect(
            Self.faults("state:\n  url_file: \(path)\n", files) == ["g.yaml:2:13: state.url_file: \(message)"])
        let provider = "identity_providers:\n  - {name: a, issuer: 'https://i.example', client_id: c,\n"
        #expect(
            Self.faults(provider + "     client_secret_file: \(path)}\n", files) == [
                "g.yaml:3:26: identity_providers[0].client_secret_file: \(message)"
            ])
    }

    @Test("A misspelt key is told the one for a file, and a missing value is missing in both forms")
    func names() {
        let misspelt = Self.faults("routes:\n  - path: /a\n    headers_fle: {X-Api-Key: key}")
        #expect(misspelt.first?.contains("did you mean 'routes[0].headers_file'?") == true, "\(misspelt)")
        let missing = Self.faults("events:\n  - events: [session.ended]")
        #expect(missing.first?.contains("missing 'url'") == true, "\(missing)")
    }
}
