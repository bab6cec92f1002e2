import BasicsForTests
import Foundation
import Testing

/// Key files that a passphrase opens.
@Suite(.blocking) struct EncryptedKeysTests {
    private static let secret = "open, barley"
    private static let variable = "GATEHOUSE_KEYS_PASSPHRASE"
    private static let configuration = "limits:\n  enabled: false\naudit:\n  file: audit.jsonl\n"

    private static func environment(_ passphrase: String?) -> [String: String] {
        guard let passphrase else { return [:] }
        return [variable: passphrase]
    }

    /// Runs a command, whose answer never holds the passphrase.
    private static func run(
        _ arguments: [String], _ passphrase: String?, in place: URL
    ) throws -> (status: Int32, output: String, errors: String) {
        let result = try GatewayProcess.run(
            arguments, in: place, stateful: arguments.first == "keys", environment: environment(passphrase))
        #expect(!(result.output + result.errors).contains(secret))
        return result
    }

    /// Makes a key and returns its `kid`.
    private static func generated(_ passphrase: String, in place: URL) throws -> String {
        let made = try run(["keys", "generate"], passphrase, in: place)
        #expect(made.status == 0, "\(made.errors)")
        return made.output.trimmingCharacters(in: .newlines)
    }

    /// The `kid` of the key that signed a token.
    private static func signer(_ token: String) -> String { header(of: token)["kid"] as? String ?? "" }

    private static func file(_ keyID: String, in place: URL) -> URL {
        place.appendingPathComponent("keys/ES256-\(keyID).pem")
    }

    private static func isEncrypted(_ keyID: String, in place: URL) throws -> Bool {
        try String(contentsOf: file(keyID, in: place), encoding: .utf8)
            .hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----")
    }

    /// What a gateway says that does not start.
    private static func refusal(
        _ environment: [String: String], in place: URL, _ configuration: String = ""
    ) async throws -> String {
        do {
            let gateway = try await GatewayProcess.start(
                configuration, users: [], environment: environment, directory: place)
            gateway.stop()
            return ""
        } catch let failure as GatewayFailure {
            #expect(!failure.description.contains(secret))
            return failure.description
        }
    }

    private static func write(_ text: String, to name: String, in place: URL, mode: Int = 0o600) throws -> String {
        let file = place.appendingPathComponent(name)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        return file.path
    }

    @Test("A gateway starts with its passphrase alone, signs, and obeys a rotation; no line holds the passphrase")
    func life() async throws {
        let place = try GatewayProcess.makeDirectory()
        let first = try Self.generated(Self.secret, in: place)
        #expect(try Self.isEncrypted(first, in: place))
        for wrong in [nil, "open, wheat"] as [String?] {
            let said = try await Self.refusal(Self.environment(wrong), in: place)
            #expect(said.contains("ES256-\(first).pem is encrypted") && said.contains(Self.variable), "\(said)")
            let rotated = try Self.run(["keys", "rotate"], wrong, in: place)
            #expect(rotated.status == 1 && rotated.errors.contains("is encrypted"), "\(rotated)")
            let served = try Self.run(["keys", "jwks"], wrong, in: place)
            #expect(served.status == 1 && served.output.isEmpty, "\(served)")
        }
        let gateway = try await GatewayProcess.start(
            Self.configuration, users: [.ada], environment: Self.environment(Self.secret), directory: place)
        defer { gateway.stop() }
        let old = try gateway.login(.ada).token
        #expect(Self.signer(old) == first)
        #expect(try gateway.isHealthy(old))

        let rotated = try Self.run(["keys", "rotate", "--now"], Self.secret, in: place)
        #expect(rotated.status == 0, "\(rotated.errors)")
        let next = rotated.output.trimmingCharacters(in: .newlines)
        #expect(try Self.isEncrypted(next, in: place))
        var token = ""
        let signs = try await eventually {
            token = try gateway.login(.ada).token
            return Self.signer(token) == next
        }
        #expect(signs)
        #expect(try gateway.isHealthy(old) && gateway.isHealthy(token))
        gateway.stop()
        let audit = try String(contentsOf: place.appendingPathComponent("audit.jsonl"), encoding: .utf8)
        #expect(!gateway.log.contains(Self.secret) && !audit.contains(Self.secret))
    }

    @Test("A key that a running gateway can't open leaves its keys as they are, and is told once")
    func stranger() async throws {
        let gateway = try await GatewayProcess.start(
            Self.configuration, users: [.ada], environment: Self.environment(Self.secret))
        defer { gateway.stop() }
        #expect(try await eventually { gateway.log.contains("one was generated, encrypted") })
        let token = try gateway.login(.ada).token
        func put(_ passphrase: String) throws -> String {
            let elsewhere = try GatewayProcess.makeDirectory()
            let keyID = try Self.generated(passphrase, in: elsewhere)
            try FileManager.default.moveItem(
                at: Self.file(keyID, in: elsewhere), to: Self.file(keyID, in: gateway.directory))
            return keyID
        }
        let foreign = try put("open, wheat")
        let sentence = "\(foreign).pem is encrypted, and not with this passphrase"
        #expect(try await eventually { gateway.log.contains(sentence) })
        let later = try gateway.login(.ada).token
        #expect(Self.signer(later) == Self.signer(token))
        #expect(try gateway.isHealthy(token) && gateway.isHealthy(later))
        // One that it can open makes it read all of them again, and it says nothing more of the other.
        let own = try put(Self.secret)
        #expect(try await eventually { try gateway.request("GET", "/.well-known/jwks.json").text.contains(own) })
        gateway.stop()
        #expect(gateway.log.components(separatedBy: sentence).count == 2, "\(gateway.log)")
    }

    @Test("The passphrase may stand in a file of its owner's, and in one place only")
    func passphraseFile() async throws {
        let place = try GatewayProcess.makeDirectory()
        let path = try Self.write(Self.secret + "\n", to: "secret", in: place)
        let configuration = "keys:\n  passphrase_file: \(path)\n"
        let gateway = try await GatewayProcess.start(configuration, users: [.ada], directory: place)
        let token = try gateway.login(.ada).token
        gateway.stop()
        #expect(try Self.isEncrypted(Self.signer(token), in: place))

        let both = try await Self.refusal(Self.environment(Self.secret), in: place, configuration)
        #expect(both.contains("\(Self.variable): is set beside keys.passphrase_file"), "\(both)")
        _ = try Self.write(Self.secret, to: "secret", in: place, mode: 0o640)
        let open = try await Self.refusal([:], in: place, configuration)
        #expect(open.contains("keys.passphrase_file: \(path) is open to others"), "\(open)")
        let file = place.appendingPathComponent("gatehouse.yaml").path
        let checked = try Self.run(["config", "check", "--config", file], nil, in: place)
        #expect(checked.status == 2 && checked.errors.contains("chmod 600 \(path)"), "\(checked)")
        let shown = try Self.run(["config", "show"], Self.secret, in: place)
        #expect(shown.status == 0 && !shown.errors.contains("warning"), "\(shown)")
    }

    @Test("Tokens are issued and verified with an encrypted key that is named")
    func tokens() throws {
        let place = try GatewayProcess.makeDirectory()
        let keyID = try Self.generated(Self.secret, in: place)
        let key = Self.file(keyID, in: place).path
        let passphrase = try Self.write(Self.secret, to: "secret", in: place)
        let issue = ["token", "issue", "--subject", "usr_1"]
        var issued: [String] = []
        for arguments in [issue, issue + ["--key", key]] {
            let result = try Self.run(arguments, Self.secret, in: place)
            #expect(result.status == 0, "\(result.errors)")
            issued.append(result.output.trimmingCharacters(in: .newlines))
        }
        let named = try Self.run(issue + ["--key", key, "--passphrase-file", passphrase], "open, wheat", in: place)
        #expect(named.status == 0, "\(named.errors)")
        issued.append(named.output.trimmingCharacters(in: .newlines))
        for token in issued {
            let verify = ["token", "verify", "--key", key, token]
            #expect(try Self.run(verify, Self.secret, in: place).status == 0)
            #expect(try Self.run(verify + ["--passphrase-file", passphrase], nil, in: place).status == 0)
            for wrong in [nil, "open, wheat"] as [String?] {
                let refused = try Self.run(verify, wrong, in: place)
                #expect(refused.status == 2 && refused.errors.contains("\(key) is encrypted"), "\(refused)")
                #expect(refused.errors.contains(Self.variable) && refused.errors.contains("--passphrase-file"))
            }
        }
        let unsigned = try Self.run(issue, nil, in: place)
        #expect(unsigned.status == 2 && unsigned.errors.contains("is encrypted"), "\(unsigned)")
        _ = try Self.write(Self.secret, to: "secret", in: place, mode: 0o644)
        let open = try Self.run(
            ["token", "verify", "--key", key, "--passphrase-file", passphrase, issued[0]], nil, in: place)
        #expect(open.status == 2 && open.errors.contains("chmod 600 \(passphrase)"), "\(open)")
    }
}
