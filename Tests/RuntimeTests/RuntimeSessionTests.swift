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
        #expect(object["created_at"] == "2027-01-15T08:00:00.000Z")
        #expect(object["expires_at"] == "2027-01-15T08:30:00.000Z")
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
