import EdgeConfiguration
import Foundation
import JOSE
import SecurityGuard
import Testing

@testable import gatehouse

@Suite("The passphrase of the keys")
struct KeyPassphraseSettingTests {
    private static let secret = "open, barley"

    @Test("It is taken from its variable, which is known and never shown")
    func variable() throws {
        let loaded = try load(environment: [KeyPassphrase.variable: Self.secret])
        #expect(loaded.warnings.isEmpty)
        #expect(try loaded.configuration.keys.readPassphrase()?.bytes == Array(Self.secret.utf8))
        #expect(!ConfigurationText.yaml(loaded.configuration).contains("barley"))
        #expect(!"\(loaded)".contains("barley"))
    }

    @Test("Its file is a key like others")
    func file() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data((Self.secret + "\n").utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let environment = ["GATEHOUSE_KEYS_PASSPHRASE_FILE": file.path]
        for loaded in [
            try load("keys: {passphrase_file: '\(file.path)'}\n"), try load(environment: environment),
        ] {
            #expect(loaded.warnings.isEmpty)
            #expect(try loaded.configuration.keys.readPassphrase()?.bytes == Array(Self.secret.utf8))
            #expect(ConfigurationText.yaml(loaded.configuration).contains("passphrase_file: "))
        }
        #expect(try load().configuration.keys.readPassphrase() == nil)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
        let open = try load(environment: environment).configuration
        let error = #expect(throws: GuardError.self) { try open.keys.readPassphrase() }
        #expect(error?.message.hasPrefix("keys.passphrase_file: \(file.path) is open to others") == true)
    }

    @Test("A fault of its file names the key once")
    func faultOfTheFile() throws {
        let loaded = try load("keys: {passphrase_file: /nowhere/passphrase}\n", file: "g.yaml")
        let error = #expect(throws: ConfigurationFaults.self) { try NamedFiles.passphrase(of: loaded) }
        let fault = try #require(error?.faults.first?.description)
        #expect(fault.hasPrefix("g.yaml:1:25: keys.passphrase_file: "), "\(fault)")
        #expect(fault.ranges(of: "keys.passphrase_file").count == 1, "\(fault)")
    }

    @Test("Both at once, nothing, and too much are faults that do not repeat it")
    func faultsOfTheVariable() {
        let name = KeyPassphrase.variable
        #expect(
            faults("keys: {passphrase_file: p}\n", environment: [name: "x"]) == [
                "\(name): is set beside keys.passphrase_file: give one of the two"
            ])
        for text in ["", String(repeating: "x", count: 1_025)] {
            #expect(faults("", environment: [name: text]) == ["\(name): expected a passphrase of 1 to 1024 bytes"])
        }
    }

    @Test("An encrypted --key is opened with it; without, the refusal names file, variable and flag")
    func keyFiles() throws {
        let key = try SigningKey.generate(.es256)
        let pem = try key.pkcs8PEM(passphrase: Array(Self.secret.utf8))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pem")
        try pem.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let passphrase = try KeyPassphrase(Array(Self.secret.utf8))
        let keys = try TokenKeyring(keyFile: file.path, algorithms: [], passphrase: passphrase)
        guard case .one(let read) = keys.usual else {
            Issue.record("more than one key was read")
            return
        }
        #expect(read.thumbprint == key.verificationKey.thumbprint)
        let other = try KeyPassphrase([0x78])
        for wrong in [nil, other] as [KeyPassphrase?] {
            let failure = #expect(throws: CommandFailure.self) {
                try TokenKeyring(keyFile: file.path, algorithms: [], passphrase: wrong)
            }
            let text = failure?.description ?? ""
            #expect(failure?.status == .misused && text.hasPrefix("\(file.path) is encrypted"))
            #expect(text.contains(KeyPassphrase.variable) && text.contains("--passphrase-file"))
        }
    }
}
