import BasicsForTests
import Encodings
import StateSurface
import StateSurfaceTesting
import Testing
import TrafficCop

@testable import Runtime

@Suite struct RuntimeSessionTests {
    let fixture = RuntimeFixture()

    @Test("An anonymous session is shown as flat JSON, without an owner and without its secret")
    func anonymousJSON() async throws {
        let issued = try await fixture.anonymous(metadata: #"{"theme":"dark","gone":null}"#)
        let object = issued.session.json()
        #expect(
            object.names == [
                "session_id", "state", "tenant_id", "user_id", "created_at", "expires_at", "last_seen_at", "metadata",
            ])
        #expect(object["state"] == "anonymous")
        #expect(object["tenant_id"] == .null && object["user_id"] == .null)
        #expect(object["created_at"] == "2023-11-14T22:13:20.000Z")
        #expect(object["expires_at"] == "2023-11-14T22:43:20.000Z")
        #expect(object["metadata"] == ["theme": "dark"])
        #expect(SessionID.isShaped(issued.session.id.utf8))
        #expect(SessionSecret.hash(ofPresented: issued.secret.text) == issued.secret.hash)
        #expect(!"\(issued.secret)".contains("sec_"))
        #expect(!String(reflecting: issued).contains("sec_"))
        var dumped = ""
        dump(issued, to: &dumped)
        #expect(!dumped.contains("sec_"))
    }

    @Test("No session without a contract for it")
    func contractNeeded() async throws {
        let intent = SessionIntent(kind: .authenticated, clientAddress: "a", tenantID: "t", userID: "usr_a")
        let contract = try fixture.trafficCop.prepare(intent).get()
        let other = SessionIntent(kind: .anonymous, clientAddress: "a")
        #expect(throws: Denial(.contractMismatch)) { try fixture.runtime.prepare(contract, for: other) }
        _ = try await fixture.runtime.open(fixture.runtime.prepare(contract, for: intent))
        #expect(throws: Denial(.contractReplayed)) { try fixture.runtime.prepare(contract, for: intent) }
        #expect(fixture.store.sessionCount == 1)
    }

    @Test(
        "Metadata that is no small object is refused",
        arguments: ["[]", "1", "", "{", #"{"a":1,"a":2}"#, "{\"a\":\"\(String(repeating: "x", count: 1_024))\"}"])
    func badMetadata(metadata: String) async throws {
        await #expect(throws: SessionFault.invalidMetadata) { try await fixture.anonymous(metadata: metadata) }
        let session = try await fixture.anonymous()
        await #expect(throws: SessionFault.invalidMetadata) {
            try await fixture.upgrade(session.session.id, secret: session.secret.hash, metadata: metadata)
        }
        let current = try await fixture.runtime.current(secretHash: session.secret.hash)
        #expect(current?.state == .anonymous)
    }

    @Test("Metadata of exactly 1 KiB is taken, one byte more is not")
    func metadataBoundary() async throws {
        let fitting = "{\"a\":\"\(String(repeating: "x", count: 1_024 - 8))\"}"
        #expect(fitting.utf8.count == 1_024)
        _ = try await fixture.anonymous(metadata: fitting)
        await #expect(throws: SessionFault.invalidMetadata) {
            try await fixture.anonymous(metadata: fitting.replacing("x\"", with: "xx\""))
        }
    }

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

    @Test("That a session has ended is told to its owner and its last secret; for all others it is unknown")
    func dead() async throws {
        let ended = try await fixture.authenticated()
        let id = ended.session.id
        let owner = SessionProof.owner(tenantID: "t", userID: "usr_a")
        let first = try await fixture.runtime.end(id: id, proof: owner)
        #expect(first == EndedSession(id: id, familyID: nil, wasLive: true))
        #expect(try await fixture.runtime.end(id: id, proof: owner).wasLive == false)
        for proof in [owner, .secret(hash: ended.secret.hash)] {
            await #expect(throws: SessionFault.ended) { try await fixture.runtime.find(id: id, proof: proof) }
        }
        let foreign: [SessionProof] = [
            .owner(tenantID: "t", userID: "usr_b"), .owner(tenantID: "u", userID: "usr_a"), .secret(hash: []),
        ]
        for proof in foreign {
            for id in [id, "ses_unknown", ""] {
                await #expect(throws: SessionFault.mismatch) {
                    try await fixture.runtime.find(id: id, proof: proof)
                }
                await #expect(throws: SessionFault.mismatch) {
                    try await fixture.runtime.end(id: id, proof: proof)
                }
            }
        }
        await #expect(throws: SessionFault.mismatch) {
            try await fixture.upgrade(id, secret: ended.secret.hash)
        }
        #expect(try await fixture.runtime.end(id: "ses_unknown") == nil)
    }

    @Test("Expiry that was seen once is durable: a clock that steps back brings nothing back")
    func expiryIsDurable() async throws {
        let readers: [@Sendable (IssuedSession) async throws -> Void] = [
            { session in
                await #expect(throws: SessionFault.expired) {
                    try await fixture.runtime.find(
                        id: session.session.id, proof: .secret(hash: session.secret.hash))
                }
            },
            { session in
                let current = try await fixture.runtime.current(secretHash: session.secret.hash)
                #expect(current == nil)
            },
            { session in
                let admitted = try await fixture.runtime.admit(secretHash: session.secret.hash)
                #expect(admitted.failure == .mismatch)
            },
            { session in
                await #expect(throws: SessionFault.mismatch) {
                    try await fixture.upgrade(session.session.id, secret: session.secret.hash)
                }
            },
            { session in
                let admitted = try await fixture.runtime.admit(
                    sessionID: session.session.id, tenantID: "t", userID: "usr_a")
                #expect(admitted.failure == .mismatch)
            },
        ]
        for reader in readers {
            let session = try await fixture.anonymous()
            fixture.clock.advance(by: 30 * 60_000)
            try await reader(session)
            #expect(fixture.store.stored(session.session.id)?.state == .expired)
            fixture.clock.advance(by: -30 * 60_000)
            #expect(try await fixture.runtime.current(secretHash: session.secret.hash) == nil)
        }
    }

    @Test("A session in use does not expire, whether or not the use is written yet; its absolute end stands")
    func useKeepsAlive() async throws {
        let fixture = RuntimeFixture(policy: SessionPolicy(anonymousIdle: 10_000, anonymousLifetime: 60_000))
        let session = try await fixture.anonymous()
        for _ in 0..<10 {
            fixture.clock.advance(by: 5_900)
            #expect(try await fixture.runtime.admit(secretHash: session.secret.hash).failure == nil)
        }
        #expect(fixture.store.touches == 0)
        try await fixture.runtime.expireSessions()
        #expect(fixture.store.touches == 1)
        #expect(fixture.store.stored(session.session.id)?.lastSeenAt == fixture.clock.now)
        fixture.clock.advance(by: 1_000)
        #expect(try await fixture.runtime.admit(secretHash: session.secret.hash).failure == .mismatch)
    }

    @Test("Uses that can't be written are kept until they can")
    func usesSurviveOutage() async throws {
        let session = try await fixture.authenticated()
        fixture.clock.advance(by: 60_000)
        fixture.runtime.noteUse(session.session.id)
        let noted = fixture.clock.now
        fixture.store.set(reachable: false)
        await #expect(throws: StateSurfaceError.self) { try await fixture.runtime.flushUses() }
        fixture.store.set(reachable: true)
        try await fixture.runtime.flushUses()
        #expect(fixture.store.stored(session.session.id)?.lastSeenAt == noted)
    }

    @Test("The list has only the caller's live sessions")
    func list() async throws {
        let mine = try await fixture.authenticated()
        fixture.clock.advance(by: 1)
        let newer = try await fixture.authenticated()
        _ = try await fixture.authenticated("usr_b")
        _ = try await fixture.authenticated("usr_a", tenant: "u")
        let gone = try await fixture.authenticated()
        _ = try await fixture.runtime.end(id: gone.session.id)
        let listed = try await fixture.runtime.liveSessions(tenantID: "t", userID: "usr_a")
        #expect(listed.map(\.id) == [newer.session.id, mine.session.id])
    }

    @Test("Two spellings of one name are two owners")
    func canonicalEquivalence() async throws {
        let session = try await fixture.authenticated("usr_\u{E9}")
        await #expect(throws: SessionFault.mismatch) {
            try await fixture.runtime.find(
                id: session.session.id, proof: .owner(tenantID: "t", userID: "usr_e\u{301}"))
        }
    }

    @Test("A store that can't be reached is no answer of any kind")
    func unreachable() async throws {
        let session = try await fixture.authenticated()
        fixture.store.set(reachable: false)
        await #expect(throws: StateSurfaceError.self) { try await fixture.anonymous() }
        await #expect(throws: StateSurfaceError.self) {
            try await fixture.runtime.find(id: session.session.id, proof: .secret(hash: session.secret.hash))
        }
        await #expect(throws: StateSurfaceError.self) {
            try await fixture.runtime.admit(sessionID: session.session.id, tenantID: "t", userID: "usr_a")
        }
    }
}

extension Result {
    var failure: Failure? {
        guard case .failure(let failure) = self else { return nil }
        return failure
    }
}
