import BasicsForTests
import StateSurface
import StateSurfaceTesting
import Testing

@testable import Runtime

/// Sessions that were ended or have expired.
@Suite struct SessionEndTests {
    let fixture = RuntimeFixture()

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
}
