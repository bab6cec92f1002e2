import Testing

@testable import StateSurface

@Suite("Changes as text")
struct ChangeTextTests {
    @Test(
        "A change survives the wire",
        arguments: [
            Change.session(id: "ses_|a|", state: .expired, epoch: -3), .familyEnded(id: "f|\u{E9}"),
            .familyRefreshed(id: "f|x|", tokenExpiresAt: .max),
            .familyRefreshed(id: "f|x|", tokenExpiresAt: 7, key: "thumb"),
            .revoked(Revocation(kind: .subject, id: "", issuedUntil: .max, expiresAt: .min)),
            .revoked(
                Revocation(kind: .subject, id: "usr|x", issuedUntil: 5, accountVersion: 7, expiresAt: 9)),
            .tokenReach(TokenReach(lifetime: 900_000, clockSkew: 0)), .account(userID: "usr"),
            .events(sessionID: "s|1", lastSeq: 9), .reset,
        ])
    func roundTrip(_ change: Change) {
        #expect(Change(text: change.text) == change)
    }

    @Test(
        "What cannot be read asks for everything again",
        arguments: ["", "s", "s|live|1|x", "s|ended|x|y", "q|new", "r|token|1|x|id", "e|1", "g|x|f", "k|1|f"])
    func unreadable(_ text: String) {
        #expect(Change(text: text) == .reset)
    }

    @Test("Notifications stay below what NOTIFY carries, and lose nothing")
    func payloads() {
        let changes = (0..<400).map { Change.session(id: "ses_\($0)_abcdefghijklmnop", state: .ended, epoch: 1) }
        let payloads = PostgresTransaction.payloads(changes.map(\.text), origin: "me")
        #expect(payloads.count > 1)
        #expect(payloads.allSatisfy { $0.utf8.count < 8000 })
        #expect(payloads.flatMap { PostgresTransaction.changes(inPayload: $0, except: "you") ?? [] } == changes)
        #expect(PostgresTransaction.changes(inPayload: payloads[0], except: "me") == nil)
        let odd = PostgresTransaction.payloads([String(repeating: "x", count: 9_000), "a|line\nbreak"], origin: "me")
        #expect(odd == ["me\nx|\nx|"])
    }
}
