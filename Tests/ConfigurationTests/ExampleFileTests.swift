import EdgeConfiguration
import Foundation
import Testing

@testable import gatehouse

@Suite("config/gatehouse.yaml")
struct ExampleFileTests {
    private let text: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        text = try String(contentsOf: root.appending(path: "config/gatehouse.yaml"), encoding: .utf8)
    }

    /// The file with the `#` of every key taken away; prose has a space behind its `#`.
    private var uncommented: String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let indent = line.prefix { $0 == " " }
            let rest = line.dropFirst(indent.count)
            guard rest.first == "#", let next = rest.dropFirst().first, next.isLetter else { return String(line) }
            return String(indent + rest.dropFirst())
        }.joined(separator: "\n")
    }

    @Test("As it is, it gives the defaults")
    func isAllDefaults() throws {
        #expect(try load(text).configuration == .init())
    }

    @Test("What it calls a default is one")
    func tellsDefaults() throws {
        var configuration = try load(uncommented).configuration
        // The one key whose default is no text.
        #expect(configuration.tokens.issuer == "https://auth.example")
        configuration.tokens.issuer = nil
        #expect(configuration == .init())
    }

    @Test("It has every key", arguments: GatewaySettings.all.map(\.key))
    func hasEveryKey(key: String) throws {
        let name = try #require(key.split(separator: ".").last)
        #expect(uncommented.split(separator: "\n").contains { $0.drop { $0 == " " }.hasPrefix("\(name):") })
    }

    @Test("Its examples of routes, issuers and providers can be read")
    func hasGoodExamples() throws {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let example = lines.drop { $0 != "# routes:" }.filter { line in
            line.hasPrefix("# ")
                && !["RFC 8693", "docs/identity-providers.md", "Receivers of signed"].contains { line.contains($0) }
        }.map { $0.dropFirst(2) }.joined(separator: "\n")
        let configuration = try load(example).configuration
        #expect(configuration.routes.count == 1)
        #expect(configuration.issuers.count == 1)
        for setting in RouteSettings.all {
            let name = try #require(setting.key.split(separator: ".").last)
            #expect(example.contains(" \(name):"), "\(setting.key)")
        }
        #expect(IssuerSettings.all.allSatisfy { example.contains("\($0.key):") })
        #expect(configuration.identityProviders.map(\.name) == ["company", "github", "other"])
        for setting in ProviderSettings.all {
            let name = setting.key.split(separator: ".").last ?? ""
            #expect(example.contains("\(name):"), "\(setting.key)")
        }
    }
}
