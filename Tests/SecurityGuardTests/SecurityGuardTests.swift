import BasicsForTests
import Foundation
import JOSE
import StateSurface
import Testing

@testable import SecurityGuard

@Suite("Security guard")
struct SecurityGuardTests {
    @Test("A running guard follows the key directory, and a broken one leaves it as it was")
    func watchesKeys() async throws {
        let fixture = try await Fixture()
        let subject = fixture.subject
        let old = subject.keyRing
        let running = Task { await subject.run() }
        defer { running.cancel() }
        _ = try subject.keyDirectory.rotate()
        #expect(try await eventually { subject.keyGeneration > old.generation })
        #expect(subject.keyRing.verificationKeys.count == 2)
        #expect(subject.keyRing.signingKey.keyID == old.signingKey.keyID)
        #expect(subject.keyRing.etag != old.etag)
        // No file changes any more: time alone makes the next key sign.
        fixture.clock.advance(by: KeySchedule.lead)
        #expect(try await eventually { subject.keyRing.signingKey.keyID != old.signingKey.keyID })
        let generation = subject.keyGeneration
        for file in try fixture.folder.files() {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644], ofItemAtPath: "\(fixture.folder.path)/\(file)")
        }
        #expect(try await eventually { fixture.events.all.contains { $0.name == .keysRefused } })
        #expect(subject.keyGeneration == generation)
    }

    @Test("A directory that can't be read is read again when it changes, and by time alone not before half a minute")
    func failureIsNotRepeated() async throws {
        let fixture = try await Fixture()
        let watch = fixture.subject.watch
        _ = try fixture.subject.keyDirectory.rotate()
        #expect(watch.isDue())
        #expect(try watch.reload().isNew)
        #expect(!watch.isDue())
        fixture.clock.advance(by: KeySchedule.lead)
        #expect(watch.isDue())
        let path = "\(fixture.folder.path)/keyring.json"
        let index = try Data(contentsOf: URL(fileURLWithPath: path))
        try Data("damaged".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: GuardError.self) { try watch.reload() }
        #expect(!watch.isDue())
        fixture.clock.advance(by: 30_000)
        #expect(watch.isDue())
        #expect(throws: GuardError.self) { try watch.reload() }
        try index.write(to: URL(fileURLWithPath: path))
        #expect(watch.isDue())
        #expect(try watch.reload().isNew)
    }

    @Test("A node of a shared store without any of its keys does not start, and makes none")
    func foreignKeys() async throws {
        let fixture = try await Fixture()
        let folder = try TemporaryFolder()
        let directory = KeyDirectory(path: folder.path, policy: fixture.policy, clock: fixture.clock.read)
        await #expect(throws: GuardError(.foreignKeys, "")) {
            _ = try await SecurityGuard(
                policy: fixture.policy, keyDirectory: directory, state: fixture.state, sharesStore: true,
                clock: fixture.clock.read)
        }
        #expect(try folder.files().isEmpty)
        _ = try await SecurityGuard(
            policy: fixture.policy, keyDirectory: fixture.subject.keyDirectory, state: fixture.state, sharesStore: true,
            clock: fixture.clock.read)
    }

    @Test("An assertion says what it is given, as it is, and nothing besides")
    func assertion() async throws {
        let fixture = try await Fixture()
        func members(_ identity: AssertedIdentity) throws -> JSONObject {
            try UnverifiedToken(fixture.subject.signAssertion(identity, audience: "/orders")).unverifiedClaims().members
        }
        let full = try members(
            AssertedIdentity(
                subject: "usr_a", tenantID: "acme", clientID: "gatehouse", scope: "read write", email: "a@b.example",
                name: "Zo\u{eb}", groups: ["a,b", "c%"], sessionID: "ses_x"))
        let texts = [
            "sub": "usr_a", "tenant_id": "acme", "client_id": "gatehouse", "scope": "read write",
            "email": "a@b.example", "name": "Zo\u{eb}", "session": "ses_x", "aud": "/orders",
        ]
        for (name, text) in texts { #expect(full[name]?.stringValue == text, "\(name)") }
        #expect(full["groups"]?.arrayValue?.map(\.stringValue) == ["a,b", "c%"])
        let unknown = try members(.nobody)
        #expect(Set(unknown.names) == ["iss", "aud", "iat", "exp", "jti"])
    }

    @Test("A policy that can't be kept is refused with the key that mends it")
    func policy() {
        let broken: [(String, (inout TokenPolicy) -> Void)] = [
            ("tokens.issuer", { $0.issuer = "" }), ("tokens.audience", { $0.audience = [] }),
            ("tokens.clock_skew", { $0.clockSkew = 60_001 }),
            ("tokens.access_token_lifetime", { $0.accessTokenLifetime = 999 }),
            ("tokens.refresh_token_lifetime", { $0.refreshTokenLifetime = .max }),
            ("accounts.default_scope", { $0.defaultScope = ["a b"] }),
        ]
        for (key, adjust) in broken {
            var policy = TokenPolicy(issuer: "https://x")
            adjust(&policy)
            let error = #expect(throws: GuardError.self) { try policy.check() }
            #expect(error?.message.contains(key) == true)
        }
    }

    @Test("Every asymmetric algorithm signs tokens that are accepted", arguments: SignatureAlgorithm.allCases)
    func algorithms(algorithm: SignatureAlgorithm) async throws {
        guard !algorithm.isSymmetric, algorithm.isAvailable else { return }
        let fixture = try await Fixture(adjust: { $0.algorithm = algorithm })
        let tokens = try await fixture.login()
        #expect(fixture.judge(tokens.accessToken).isGood)
        #expect(try UnverifiedToken(tokens.accessToken).header.algorithm == algorithm.rawValue)
        // And after the index is lost, the file's name still says which.
        try FileManager.default.removeItem(atPath: "\(fixture.folder.path)/keyring.json")
        try await fixture.subject.reload()
        #expect(fixture.judge(tokens.accessToken).isGood)
    }
}
