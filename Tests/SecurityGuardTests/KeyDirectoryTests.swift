import BasicsForTests
import Foundation
import JOSE
import Testing

@testable import SecurityGuard

@Suite("Key directory")
struct KeyDirectoryTests {
    let folder: TemporaryFolder
    let clock = TestClock()
    let directory: KeyDirectory

    init() throws {
        folder = try TemporaryFolder()
        directory = KeyDirectory(path: folder.path, algorithm: .es256, tokenReach: 990_000, clock: clock.read)
    }

    func mode(_ file: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(file)")
        return attributes[.posixPermissions] as? Int
    }

    @Test("The first run makes one key that only its owner can read, and later runs keep it")
    func firstRun() throws {
        #expect(try directory.load() == nil)
        let made = try directory.loadOrCreate()
        let again = try directory.loadOrCreate()
        #expect(made.plan == again.plan)
        let files = try folder.files()
        #expect(files.count == 1)
        #expect(try mode(files[0]) == 0o600)
        #expect(try folder.files(ending: ".tmp").isEmpty)
    }

    @Test("Many first runs at once make one key")
    func concurrentFirstRun() async throws {
        let directory = directory
        let keys = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<8 { group.addTask { try directory.loadOrCreate().plan.active?.keyID } }
            return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
        #expect(try folder.files().count == 1)
    }

    @Test(
        "A private key that others may read is refused, and the sentence says how to mend it",
        arguments: [0o644, 0o640, 0o604])
    func openFileIsRefused(mode: Int) throws {
        _ = try directory.loadOrCreate()
        let path = try "\(folder.path)/\(folder.files()[0])"
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        let error = #expect(throws: GuardError.self) { try directory.load() }
        #expect(error?.code == .keyPermissions)
        #expect(error?.message.contains("chmod 600 \(path)") == true)
    }

    @Test("A single PEM that was put there by hand is the signing key")
    func foreignPEMIsAdopted() throws {
        let key = try SigningKey.generate(.ed25519)
        let path = "\(folder.path)/mine.pem"
        try Data(key.pkcs8PEM().utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try directory.loadOrCreate().plan.active?.file == "mine.pem")
        #expect(try folder.files() == ["mine.pem"])
    }

    @Test("A rotation is pending until its time, and a second one meanwhile is refused")
    func rotation() throws {
        let old = try #require(try directory.loadOrCreate().plan.active)
        let next = try directory.rotate()
        #expect(next.state == .next)
        #expect(next.until == clock.now + KeySchedule.lead)
        #expect(throws: GuardError.self) { try directory.rotate() }
        clock.advance(by: KeySchedule.lead)
        let plan = try #require(try directory.load()).plan
        #expect(plan.active?.keyID == next.entry.keyID)
        #expect(plan.state(of: old.keyID) == .retiring)
        clock.advance(by: 990_000)
        let after = try #require(try directory.load())
        #expect(after.plan.state(of: old.keyID) == .retired)
        #expect(after.keys.map(\.entry.keyID) == [next.entry.keyID])
    }

    @Test("Retiring the signing key puts another one in its place in the same step")
    func retireActive() throws {
        let old = try #require(try directory.loadOrCreate().plan.active)
        #expect(try directory.retire(keyID: old.keyID).state == .retired)
        let contents = try #require(try directory.load())
        #expect(contents.plan.active != nil)
        #expect(!contents.keys.contains { $0.entry.keyID == old.keyID })
        #expect(throws: GuardError.self) { try directory.retire(keyID: "nobody") }
    }

    @Test("A damaged index is an error, not an empty directory")
    func damagedIndex() throws {
        _ = try directory.loadOrCreate()
        let path = "\(folder.path)/\(KeyIndex.fileName)"
        try Data("{\"version\":1,\"keys\":[{\"kid\":\"x\",\"file\":\"../x\"}]}".utf8).write(
            to: URL(fileURLWithPath: path))
        #expect(throws: GuardError.self) { try directory.loadOrCreate() }
    }

    private func put(_ name: String, _ text: String, mode: Int = 0o600) throws {
        let path = "\(folder.path)/\(name)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test("Keys are rotated and retired beside a stray file that can't be used; a start is refused with its name")
    func strayFile() throws {
        let old = try #require(try directory.loadOrCreate().plan.active)
        try put("junk.pem", "no key")
        #expect(throws: GuardError.self) { try directory.load() }
        #expect(try directory.strayFaults().map(\.message).count { $0.contains("junk.pem") } == 1)
        let next = try directory.rotate(immediately: true)
        #expect(try directory.retire(keyID: old.keyID).state == .retired)
        #expect(try directory.list().map(\.entry.keyID) == [old.keyID, next.entry.keyID])
    }

    @Test("Without an index a file that can't be used is the one key there is: none is made in its place")
    func onlyFile() throws {
        try put("mine.pem", "no key")
        #expect(throws: GuardError.self) { try directory.loadOrCreate() }
        #expect(throws: GuardError.self) { try directory.rotate(immediately: true) }
        #expect(try folder.files() == ["mine.pem"])
    }

    @Test("A gateway obeys a retirement although another file can't be read, keeps that key, and says so")
    func retiredBeside() async throws {
        let fixture = try await Fixture()
        let guardian = fixture.subject
        let first = try await fixture.login()
        let next = try guardian.keyDirectory.rotate(immediately: true)
        fixture.clock.advance(by: 10)
        try await guardian.reload()
        let second = try await guardian.openFamily(for: fixture.account("bob@example.com"))
        let file = "\(fixture.folder.path)/\(next.entry.file)"
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        _ = try guardian.keyDirectory.retire(keyID: first.principal.keyThumbprint)
        await #expect(throws: GuardError.self) { try await guardian.reload() }
        #expect(fixture.judge(first.accessToken).fault?.reason == "key_unknown")
        #expect(fixture.judge(second.accessToken).isGood)
        #expect(fixture.reasons(.keysRefused) == ["keyPermissions"])
    }

    @Test("The JWKS holds no private member")
    func jwksIsPublic() throws {
        _ = try directory.loadOrCreate()
        _ = try directory.generate(algorithm: .ed25519)
        let object = try StrictJSON.object(Array(directory.jwks().utf8))
        let keys = try #require(object["keys"]?.arrayValue)
        #expect(keys.count == 2)
        for key in keys {
            let names = try #require(key.objectValue).names
            #expect(Set(names).isDisjoint(with: ["d", "p", "q", "dp", "dq", "qi", "k", "priv"]))
            #expect(names.contains("kid") && names.contains("alg"))
        }
    }
}
