import BasicsForTests
import Encodings
import StateSurface
import StateSurfaceTesting
import Testing

@testable import Runtime

/// Logins on sessions that exist: what is kept, and which of several has the session.
@Suite struct SessionUpgradeTests {
    let fixture = RuntimeFixture()

    @Test("An upgrade keeps the id, merges the metadata, and nothing from before works after it")
    func upgrade() async throws {
        let before = try await fixture.anonymous(metadata: #"{"a":1,"b":{"c":2}}"#)
        let after = try await fixture.upgrade(
            before.session.id, secret: before.secret.hash, family: "fam", metadata: #"{"a":null,"b":{"d":3},"e":4}"#)
        #expect(after.session.id == before.session.id)
        #expect(after.session.state == .authenticated)
        #expect(after.session.metadata == ["b": ["d": 3], "e": 4])
        #expect(after.session.epoch == before.session.epoch + 1)
        #expect(try await fixture.runtime.current(secretHash: before.secret.hash) == nil)
        #expect(try await fixture.runtime.admit(secretHash: before.secret.hash).failure == .mismatch)
        await #expect(throws: SessionFault.mismatch) {
            try await fixture.runtime.find(id: before.session.id, proof: .secret(hash: before.secret.hash))
        }
        #expect(try await fixture.runtime.current(secretHash: after.secret.hash)?.id == before.session.id)
    }

    @Test("Within 10 seconds the old secret repeats the very same upgrade, each time with a new secret")
    func repeats() async throws {
        let before = try await fixture.anonymous()
        var secrets = [before.secret.hash]
        for _ in 0..<3 {
            let after = try await fixture.upgrade(before.session.id, secret: before.secret.hash, family: "fam")
            #expect(after.session.epoch == 1)
            #expect(!secrets.contains(after.secret.hash))
            secrets.append(after.secret.hash)
            fixture.clock.advance(by: 3_000)
        }
        await #expect(throws: SessionFault.conflict) {
            try await fixture.upgrade(before.session.id, secret: before.secret.hash, user: "usr_b")
        }
        fixture.clock.advance(by: 1_000)
        await #expect(throws: SessionFault.mismatch) {
            try await fixture.upgrade(before.session.id, secret: before.secret.hash)
        }
        let last = try await fixture.upgrade(before.session.id, secret: try #require(secrets.last))
        #expect(last.session.familyID == "fam")
    }

    @Test("Two hundred races for an anonymous session have one winner each")
    func races() async throws {
        for _ in 0..<200 {
            let session = try await fixture.anonymous()
            let winners: [String] = await withTaskGroup(of: String?.self) { group in
                for user in ["usr_a", "usr_b", "usr_c"] {
                    group.addTask {
                        do {
                            let secret = session.secret.hash
                            return try await fixture.upgrade(session.session.id, secret: secret, user: user)
                                .session.userID
                        } catch {
                            #expect(error as? SessionFault == .conflict)
                            return nil
                        }
                    }
                }
                return await group.reduce(into: [String]()) { if let winner = $1 { $0.append(winner) } }
            }
            #expect(winners.count == 1)
            #expect(fixture.store.stored(session.session.id)?.userID == winners.first)
        }
    }

    @Test("Of two logins of one user that began on the same anonymous session, the second is told of the conflict")
    func loginRace() async throws {
        let session = try await fixture.anonymous()
        let secret = session.secret.hash
        let target = try #require(try await fixture.runtime.loginTarget(secretHash: secret))
        #expect(target.isCurrentSecret && target.session.state == .anonymous)
        let epoch = target.session.epoch
        _ = try await fixture.upgrade(session.session.id, secret: secret, family: "one", expectedEpoch: epoch)
        await #expect(throws: SessionFault.conflict) {
            try await fixture.upgrade(session.session.id, secret: secret, family: "two", expectedEpoch: epoch)
        }
        let again = try #require(try await fixture.runtime.loginTarget(secretHash: secret))
        #expect(!again.isCurrentSecret && again.session.state == .authenticated)
        fixture.clock.advance(by: 10_000)
        #expect(try await fixture.runtime.loginTarget(secretHash: secret) == nil)
    }

    @Test("Logging in again keeps the id, and ending the old family leaves the session alive")
    func resume() async throws {
        let before = try await fixture.authenticated(family: "old")
        let after = try await fixture.resume(before.session.id, secret: before.secret.hash, family: "new")
        #expect(after.session.id == before.session.id && after.session.epoch == before.session.epoch + 1)
        let now = fixture.clock.now
        _ = try await fixture.store.endFamily(id: "old", at: now, revokedUntil: now)
        #expect(try await fixture.runtime.current(secretHash: after.secret.hash)?.familyID == "new")
        #expect(try await fixture.runtime.current(secretHash: before.secret.hash) == nil)
        await #expect(throws: SessionFault.conflict) {
            try await fixture.resume(
                before.session.id, secret: after.secret.hash, user: "usr_b", family: "x")
        }
    }
}
