import BasicsForTests
import StateSurface
import StateSurfaceTesting
import Testing

@testable import Runtime

@Suite struct SessionViewTests {
    let fixture = RuntimeFixture()

    private func admit(_ session: SessionSnapshot, user: String = "usr_a", tenant: String = "t") -> Permit? {
        let now = fixture.clock.now
        switch fixture.runtime.view.admit(sessionID: session.id, tenantID: tenant, userID: user, now: now) {
        case .granted(let permit): return permit
        case .askStore: return nil
        }
    }

    @Test("Memory admits only the owner; what it does not know, it asks the store")
    func ownership() async throws {
        let issued = try await fixture.authenticated(family: "fam")
        #expect(admit(issued.session) == nil)
        let asked = try await fixture.permit(issued.session)
        #expect(admit(issued.session) == asked)
        #expect(asked.userID == "usr_a" && asked.tenantID == "t" && asked.familyID == "fam")
        #expect(admit(issued.session, user: "usr_b") == nil)
        #expect(admit(issued.session, tenant: "u") == nil)
        #expect(admit(issued.session, user: "") == nil)
    }

    @Test("A secret is known to memory only while it is the current one")
    func secrets() async throws {
        let before = try await fixture.anonymous()
        let view = fixture.runtime.view
        func isGranted(_ hash: [UInt8]) -> Bool {
            if case .granted = view.admit(secretHash: hash, now: fixture.clock.now) { true } else { false }
        }
        _ = try await fixture.runtime.admit(secretHash: before.secret.hash).get()
        #expect(isGranted(before.secret.hash))
        let after = try await fixture.upgrade(before.session.id, secret: before.secret.hash)
        #expect(!isGranted(before.secret.hash))
        _ = try await fixture.runtime.admit(secretHash: after.secret.hash).get()
        #expect(isGranted(after.secret.hash) && !isGranted(before.secret.hash) && !isGranted([]))
    }

    @Test("An anonymous session has no owner, not even one with an empty name")
    func anonymous() async throws {
        let session = try await fixture.anonymous().session
        let admitted = try await fixture.runtime.admit(sessionID: session.id, tenantID: "", userID: "")
        #expect(admitted.failure == .mismatch)
    }

    @Test("What is written anywhere is forgotten here at once")
    func forgotten() async throws {
        let other = RuntimeFixture(store: fixture.store, clock: fixture.clock)
        let session = try await fixture.authenticated().session
        _ = try await fixture.permit(session)
        #expect(admit(session) != nil)
        _ = try await other.runtime.end(id: session.id)
        #expect(admit(session) == nil)
        #expect(
            try await fixture.runtime.admit(sessionID: session.id, tenantID: "t", userID: "usr_a").failure
                == .mismatch)
        #expect(admit(session) == nil)
    }

    @Test("After a gap in the feed nothing is remembered")
    func reset() async throws {
        let session = try await fixture.authenticated().session
        _ = try await fixture.permit(session)
        fixture.store.tell(.reset)
        #expect(admit(session) == nil)
        #expect(fixture.runtime.view.count == 0)
    }

    @Test("An answer of the store that is older than a change is not remembered")
    func slowAnswer() async throws {
        let session = try await fixture.authenticated().session
        let store = fixture.store
        let runtime = fixture.runtime
        store.pause(at: .sessionRead) {
            store.pause(at: .sessionRead, nil)
            _ = try? await runtime.end(id: session.id)
        }
        // This answer was on its way when the session ended; it may still be given, but not kept.
        _ = try await runtime.admit(sessionID: session.id, tenantID: "t", userID: "usr_a")
        #expect(store.stored(session.id)?.state == .ended)
        #expect(admit(session) == nil)
    }

    @Test("The same for a gap in the feed, and for more changes than are remembered", arguments: [true, false])
    func slowAnswerAndManyChanges(isReset: Bool) async throws {
        let session = try await fixture.authenticated().session
        let view = fixture.runtime.view
        let record = try #require(fixture.store.stored(session.id))
        let mark = view.mark()
        if isReset {
            view.forgetAll()
        } else {
            view.forget(id: session.id)
            for index in 0..<10_000 { view.forget(id: "other \(index)") }
        }
        #expect(!view.remember(record, readAfter: mark))
        #expect(view.remember(record, readAfter: view.mark()))
    }

    @Test("Changes of other sessions do not keep an answer from being remembered")
    func otherChanges() async throws {
        let session = try await fixture.authenticated().session
        let view = fixture.runtime.view
        let record = try #require(fixture.store.stored(session.id))
        let mark = view.mark()
        for index in 0..<20 { view.forget(id: "other \(index)") }
        #expect(view.remember(record, readAfter: mark))
    }

    @Test("Memory is bounded, and what is used stays")
    func bounded() async throws {
        let session = try await fixture.authenticated().session
        let record = try #require(fixture.store.stored(session.id))
        let view = SessionView(capacity: 640)
        view.remember(record, readAfter: view.mark())
        for index in 0..<5_000 {
            var other = record
            other.id = "ses_\(index)"
            other.secretHash = [UInt8(truncatingIfNeeded: index), UInt8(truncatingIfNeeded: index >> 8)]
            view.remember(other, readAfter: view.mark())
            if index % 2 == 0 { #expect(view.entry(id: session.id) != nil) }
        }
        #expect(view.count <= 640)
    }

    @Test("Memory does not outlive the session's time; use moves it forward, the absolute end stands")
    func expiry() async throws {
        let policy = SessionPolicy(anonymousIdle: 4_000, anonymousLifetime: 60_000, idle: 8_000, lifetime: 20_000)
        let fixture = RuntimeFixture(policy: policy)
        let session = try await fixture.authenticated().session
        _ = try await fixture.permit(session)
        func isGranted() -> Bool {
            let admission = fixture.runtime.view.admit(
                sessionID: session.id, tenantID: "t", userID: "usr_a", now: fixture.clock.now)
            if case .granted = admission { return true }
            return false
        }
        fixture.clock.advance(by: 7_999)
        #expect(isGranted())
        fixture.runtime.noteUse(session.id)
        fixture.clock.advance(by: 7_999)
        #expect(isGranted())
        fixture.runtime.noteUse(session.id)
        fixture.clock.advance(by: 4_002)
        #expect(!isGranted())
    }

    @Test("A permit is renewed while the session is what it was, and not one epoch longer")
    func renew() async throws {
        let issued = try await fixture.authenticated()
        let permit = try await fixture.permit(issued.session)
        #expect(try await fixture.runtime.renew(permit) == .holds(permit))
        let resumed = try await fixture.resume(issued.session.id, secret: issued.secret.hash, family: "new")
        #expect(try await fixture.runtime.renew(permit) == .outgrown)
        let next = try await fixture.permit(resumed.session)
        _ = try await fixture.runtime.end(id: issued.session.id)
        #expect(try await fixture.runtime.renew(next) == .ended)
    }

    @Test("Observers hear of every change, after memory has forgotten, until they cancel")
    func observers() async throws {
        let heard = Collected<SessionNotice>()
        let subscription = fixture.runtime.observe { heard.append($0) }
        let session = try await fixture.authenticated().session
        _ = try await fixture.runtime.end(id: session.id)
        fixture.store.tell(.reset)
        #expect(
            heard.all == [
                .changed(sessionID: session.id, state: .authenticated, epoch: 0),
                .changed(sessionID: session.id, state: .ended, epoch: 0), .reset,
            ])
        subscription.cancel()
        fixture.store.tell(.reset)
        #expect(heard.all.count == 3)
    }
}
