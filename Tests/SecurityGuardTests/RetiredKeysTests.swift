import BasicsForTests
import JOSE
import StateSurface
import StateSurfaceTesting
import Testing

@testable import SecurityGuard

@Suite("Retired keys")
struct RetiredKeysTests {
    /// The key that has signed the newest token of a family, as the feed told last.
    private func newestKey(of familyID: String, told feed: ChangeRecorder) -> String? {
        for change in feed.changes.reversed() {
            if case .familyRefreshed(let id, _, let key) = change, id == familyID { return key }
        }
        return nil
    }

    @Test("A number stands for one key, for all callers")
    func numbers() {
        #expect(KeyNumber(thumbprint: "one") == KeyNumber(thumbprint: "one"))
        #expect(KeyNumber(thumbprint: "one") != KeyNumber(thumbprint: "other"))
    }

    @Test(
        "A key that an operator retired is listed from then on; one that has expired is not, nor one that still verifies"
    )
    func retired() async throws {
        let fixture = try await Fixture()
        let guardian = fixture.subject
        let first = try await fixture.login().principal.key
        _ = try guardian.keyDirectory.rotate(immediately: true)
        try await guardian.reload()
        #expect(guardian.keyRing.retiredKeys.isEmpty, "its tokens are good")

        // Long after the last token of the first key.
        fixture.clock.advance(by: fixture.policy.tokenReach + 60_000)
        try await guardian.reload()
        #expect(guardian.keyRing.verificationKeys.count == 1 && guardian.keyRing.retiredKeys.isEmpty)

        let second = guardian.keyRing.signingKey
        let number = KeyNumber(thumbprint: second.verificationKey.thumbprint)
        #expect(number != first)
        _ = try guardian.keyDirectory.retire(keyID: second.keyID)
        try await guardian.reload()
        #expect(guardian.keyRing.retiredKeys == [number])
        _ = try guardian.keyDirectory.generate()
        try await guardian.reload()
        #expect(guardian.keyRing.retiredKeys == [number])
    }

    @Test("A rotation of a family tells which key signed its newest token")
    func refreshed() async throws {
        let fixture = try await Fixture()
        let login = try await fixture.login()
        let feed = ChangeRecorder(fixture.state)
        _ = try fixture.subject.keyDirectory.rotate(immediately: true)
        // Two keys never begin to sign in the same millisecond.
        fixture.clock.advance(by: 10)
        try await fixture.subject.reload()
        let outcome = try await fixture.subject.refresh(login.refreshToken ?? "")
        guard case .rotated(let tokens) = outcome else {
            Issue.record("not rotated: \(outcome)")
            return
        }
        #expect(tokens.principal.key != login.principal.key)
        let told = newestKey(of: login.familyID, told: feed)
        #expect(told == fixture.subject.keyRing.signingKey.verificationKey.thumbprint)
    }

    @Test("So does a repeated refresh, which may come after the key was changed")
    func repeated() async throws {
        let fixture = try await Fixture()
        let login = try await fixture.login()
        let feed = ChangeRecorder(fixture.state)
        let first = try await fixture.subject.refresh(login.refreshToken ?? "")
        guard case .rotated = first else {
            Issue.record("not rotated: \(first)")
            return
        }
        #expect(newestKey(of: login.familyID, told: feed) == login.principal.keyThumbprint)
        _ = try fixture.subject.keyDirectory.rotate(immediately: true)
        fixture.clock.advance(by: 10)
        try await fixture.subject.reload()
        let outcome = try await fixture.subject.refresh(login.refreshToken ?? "")
        guard case .repeated(let tokens) = outcome else {
            Issue.record("not repeated: \(outcome)")
            return
        }
        #expect(tokens.principal.key != login.principal.key)
        #expect(newestKey(of: login.familyID, told: feed) == tokens.principal.keyThumbprint)
    }
}
