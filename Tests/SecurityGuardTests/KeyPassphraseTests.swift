import BasicsForTests
import Foundation
import JOSE
import Testing

@testable import SecurityGuard

@Suite("Encrypted keys")
struct KeyPassphraseTests {
    static let secret = "open, barley"

    let folder: TemporaryFolder
    let clock = TestClock()

    init() throws { folder = try TemporaryFolder() }

    func directory(_ passphrase: String?) throws -> KeyDirectory {
        var given: KeyPassphrase?
        if let passphrase { given = try KeyPassphrase(Array(passphrase.utf8)) }
        return KeyDirectory(
            path: folder.path, algorithm: .es256, tokenReach: 990_000, passphrase: given, clock: clock.read)
    }

    func isEncrypted(_ file: String) throws -> Bool {
        let text = try String(contentsOfFile: "\(folder.path)/\(file)", encoding: .utf8)
        return text.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----")
    }

    func write(_ text: String, mode: Int = 0o600) throws -> String {
        let path = "\(folder.path)/passphrase"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test("A new key is encrypted, for its owner alone, and opens with the same passphrase only")
    func firstRun() throws {
        let made = try directory(Self.secret).loadOrCreate()
        let file = try #require(try folder.files().first)
        #expect(try isEncrypted(file))
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(file)")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try directory(Self.secret).load()?.plan == made.plan)
        for wrong in [nil, "open, wheat"] as [String?] {
            let error = #expect(throws: GuardError.self) { try directory(wrong).load() }
            #expect(error?.code == .keyPassphrase)
            let message = error?.message ?? ""
            #expect(message.contains("\(folder.path)/\(file) is encrypted"))
            #expect(message.contains(KeyPassphrase.variable) && message.contains("keys.passphrase_file"))
            #expect(!message.contains("open, "))
        }
    }

    @Test("Keys in the clear go on beside encrypted ones")
    func mixture() throws {
        let old = try #require(try directory(nil).loadOrCreate().plan.active)
        let next = try directory(Self.secret).rotate(immediately: true)
        #expect(try !isEncrypted(old.file))
        #expect(try isEncrypted(next.entry.file))
        let contents = try #require(try directory(Self.secret).load())
        // Which of them signs may change within this very millisecond.
        #expect(contents.plan.state(of: old.keyID) != nil && contents.plan.state(of: next.entry.keyID) != nil)
        #expect(contents.keys.count == 2)
    }

    @Test("No key is made that does not open with what opens the others", arguments: [nil, "open, wheat"] as [String?])
    func foreignPassphrase(wrong: String?) throws {
        let old = try #require(try directory(Self.secret).loadOrCreate().plan.active)
        let index = try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(KeyIndex.fileName)"))
        let other = try directory(wrong)
        #expect(throws: GuardError(.keyPassphrase, "")) { try other.generate() }
        #expect(throws: GuardError(.keyPassphrase, "")) { try other.rotate() }
        #expect(throws: GuardError(.keyPassphrase, "")) { try other.retire(keyID: old.keyID) }
        #expect(try folder.files() == [old.file])
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(KeyIndex.fileName)")) == index)
    }

    @Test("A key goes its way from stand-by to retired without its file being written again")
    func life() throws {
        let directory = try directory(Self.secret)
        let first = try directory.generate()
        let second = try directory.generate()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(second.entry.file)"))
        #expect(try directory.rotate().entry.keyID == second.entry.keyID)
        clock.advance(by: KeySchedule.lead)
        let plan = try #require(try directory.load()).plan
        #expect(plan.active?.keyID == second.entry.keyID)
        #expect(plan.state(of: first.entry.keyID) == .retiring)
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(second.entry.file)")) == bytes)
        _ = try directory.retire(keyID: second.entry.keyID)
        let active = try #require(try directory.load()?.plan.active)
        #expect(active.keyID != second.entry.keyID)
        #expect(try isEncrypted(active.file))
    }

    @Test("An encrypted PEM that was put there by hand is accepted")
    func foreignPEM() throws {
        let path = "\(folder.path)/mine.pem"
        let pem = try SigningKey.generate(.ed25519).pkcs8PEM(passphrase: Array(Self.secret.utf8))
        try Data(pem.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try directory(Self.secret).loadOrCreate().plan.active?.file == "mine.pem")
        #expect(throws: GuardError(.keyPassphrase, "")) { try directory(nil).loadOrCreate() }
    }

    @Test("A running guard that meets a key it can't open keeps its keys, and tells so once")
    func running() async throws {
        let fixture = try await Fixture()
        let subject = fixture.subject
        let reported = Collected<String>()
        let running = Task { await subject.run { error in reported.append("\(error)") } }
        defer { running.cancel() }
        let (keys, signing) = (subject.keyRing.jwks, subject.keyRing.signingKey.keyID)
        let stranger = KeyDirectory(
            path: fixture.folder.path, policy: fixture.policy, passphrase: try KeyPassphrase(Array(Self.secret.utf8)),
            clock: fixture.clock.read)
        _ = try stranger.rotate(immediately: true)
        #expect(try await eventually { !reported.all.isEmpty })
        #expect(reported.all.first?.contains(KeyPassphrase.variable) == true)
        #expect(subject.keyRing.jwks == keys && subject.keyRing.signingKey.keyID == signing)
        // One that it can open makes it read all of them again, and it says nothing more of the other.
        let elsewhere = try TemporaryFolder()
        let another = KeyDirectory(path: elsewhere.path, policy: fixture.policy, clock: fixture.clock.read)
        let own = try #require(try another.loadOrCreate().plan.active)
        try FileManager.default.moveItem(
            atPath: "\(elsewhere.path)/\(own.file)", toPath: "\(fixture.folder.path)/\(own.file)")
        #expect(try await eventually { String(decoding: subject.keyRing.jwks, as: UTF8.self).contains(own.keyID) })
        #expect(reported.all.count == 1)
    }

    // MARK: The passphrase's file

    @Test("One final newline of the file is dropped")
    func newline() throws {
        for (text, read) in [("a b\n", "a b"), ("a\n\n", "a\n"), ("a", "a"), (" a ", " a ")] {
            #expect(try KeyPassphrase(file: try write(text)).bytes == Array(read.utf8))
        }
    }

    @Test("An empty passphrase and one that is too long are refused")
    func length() throws {
        let longest = String(repeating: "x", count: 1_024)
        #expect(try KeyPassphrase(file: try write(longest + "\n")).bytes.count == 1_024)
        for text in ["", "\n", longest + "x"] {
            let path = try write(text)
            let error = #expect(throws: GuardError.self) { try KeyPassphrase(file: path) }
            #expect(error?.message == "\(path): expected a passphrase of 1 to 1024 bytes")
        }
    }

    @Test("A file that others may read is refused, and the sentence says how to mend it", arguments: [0o644, 0o640])
    func openFile(mode: Int) throws {
        let path = try write(Self.secret, mode: mode)
        let error = #expect(throws: GuardError.self) { try KeyPassphrase(file: path) }
        #expect(error?.code == .keyPermissions)
        #expect(error?.message.contains("chmod 600 \(path)") == true)
    }

    @Test("Nothing that describes a passphrase shows it")
    func isSecret() throws {
        let passphrase = try KeyPassphrase(Array(Self.secret.utf8))
        var dumped = ""
        dump(passphrase, to: &dumped)
        let shown = "\(passphrase) \(String(reflecting: passphrase)) \(dumped)"
        #expect(!shown.contains("111") && !shown.contains("barley"), "111 is the first byte")
    }
}
