import EdgeConfiguration
import Testing

@testable import gatehouse

@Suite("Flags, environment, file, defaults")
struct ConfigurationPrecedenceTests {
    private let file = "server: {listen: 127.0.0.1:1}\n"
    private let environment = ["GATEHOUSE_SERVER_LISTEN": "127.0.0.1:2"]
    private let flag = ConfigurationFlag(name: "--listen", key: "server.listen", value: "127.0.0.1:3")

    @Test("Each goes before the next")
    func ordersSources() throws {
        #expect(try load().configuration.server.listen.port == 8080)
        #expect(try load(file).configuration.server.listen.port == 1)
        #expect(try load(file, environment: environment).configuration.server.listen.port == 2)
        #expect(try load(file, environment: environment, flags: [flag]).configuration.server.listen.port == 3)
    }

    @Test("Every key can be given by a variable", arguments: GatewaySettings.all.map(\.key))
    func hasAVariable(key: String) {
        // Nothing is a value of every key: what is refused has been read.
        let name = ConfigurationLoader.variable(for: key)
        let setting = GatewaySettings.all.first { $0.key == key }
        guard setting?.shape == .scalar else { return }
        #expect(faults("", environment: [name: ""]).contains { $0.hasPrefix("\(name): ") })
    }

    @Test("A wrong value of a variable is an error that names the variable")
    func namesTheVariable() {
        #expect(
            faults("", environment: ["GATEHOUSE_TOKENS_CLOCK_SKEW": "61s"]) == [
                "GATEHOUSE_TOKENS_CLOCK_SKEW: expected a duration such as 500ms, 30s, 15m, 24h or 30d, "
                    + "from 0s to 1m, found '61s'"
            ])
    }

    @Test("A wrong value of a flag is an error that names the flag")
    func namesTheFlag() throws {
        let fault = try #require(faults("", flags: [.init(name: "--admin", key: "server.admin", value: "x")]).first)
        #expect(fault.hasPrefix("--admin: expected HOST:PORT"))
    }

    @Test("A wrong value in the file is an error even where a variable goes before it")
    func checksWhatIsOverridden() {
        #expect(faults("server: {listen: x}\n", environment: environment).count == 1)
    }

    @Test("Lists are separated by commas in a variable")
    func readsLists() throws {
        let environment = ["GATEHOUSE_SERVER_HOSTS": "a.example, B.example,", "GATEHOUSE_TOKENS_AUDIENCE": "x"]
        let configuration = try load(environment: environment).configuration
        #expect(configuration.server.hosts == ["a.example", "b.example"])
        #expect(configuration.tokens.audience == ["x"])
    }

    @Test("A variable that no key has is told, with the nearest that is one")
    func tellsUnknownVariables() throws {
        let warnings = try load(environment: ["GATEHOUSE_TOKENS_CLOK_SKEW": "1s", "PATH": "/bin"]).warnings
        #expect(
            warnings.map(\.description) == [
                "GATEHOUSE_TOKENS_CLOK_SKEW: overrides no key and is ignored; the nearest is GATEHOUSE_TOKENS_CLOCK_SKEW"
            ])
    }

    @Test("A list of mappings is the file's alone: its variable is told so, and compared with no other")
    func tellsListsInVariables() throws {
        let environment = ["GATEHOUSE_ROUTES": "x", "GATEHOUSE_ISSUERS_0_ISSUER": "y"]
        #expect(
            try load(environment: environment).warnings.map(\.description) == [
                "GATEHOUSE_ISSUERS_0_ISSUER: is ignored: 'issuers' is a list of mappings, which only the file can hold",
                "GATEHOUSE_ROUTES: is ignored: 'routes' is a list of mappings, which only the file can hold",
            ])
    }

    @Test("An issuer without TLS is told, and accepted")
    func warnsOfPlainIssuers() throws {
        let loaded = try load("tokens: {issuer: 'http://auth.example'}\n")
        #expect(loaded.warnings.map(\.key) == ["tokens.issuer"])
    }
}
