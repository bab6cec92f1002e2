import Testing

@testable import StateSurface

@Suite("Changes as text")
struct ChangeTextTests {
    @Test(
        "A change survives the wire",
        arguments: [
            Change.session(id: "ses_|a|", state: .expired, epoch: -3), .familyEnded(id: "f|\u{E9}"),
            .sessionExtended(id: "ses_|a", origin: "o-_", tokenExpiresAt: .max),
            .familyRefreshed(id: "f|x|", tokenExpiresAt: .max),
            .familyRefreshed(id: "f|x|", tokenExpiresAt: 7, key: "thumb"),
            .revoked(Revocation(kind: .subject, id: "", issuedUntil: .max, expiresAt: .min)),
            .revoked(
                Revocation(kind: .subject, id: "usr|x", issuedUntil: 5, accountVersion: 7, expiresAt: 9)),
            .tokenReach(TokenReach(lifetime: 900_000, clockSkew: 0)), .account(userID: "usr"),
            .events(sessionID: "s|1", lastSeq: 9), .protocolSessionEnded(hash: [0, 15, 240, 255]), .reset,
        ])
    func roundTrip(_ change: Change) {
        #expect(Change(text: change.text) == change)
    }

    @Test(
        "What cannot be read asks for everything again",
        arguments: [
            "", "s", "s|live|1|x", "s|ended|x|y", "q|new", "r|token|1|x|id", "e|1", "g|x|f", "k|1|f", "n|x|o|s",
            "n|1|s",
        ])
    func unreadable(_ text: String) {
        #expect(Change(text: text) == .reset)
    }

    @Test("A row of the change log has one change a line, and loses none")
    func payloads() {
        let changes = (0..<400).map { Change.session(id: "ses_\($0)_abcdefghijklmnop", state: .ended, epoch: 1) }
        #expect(PostgresChangeLog.changes(in: PostgresChangeLog.payload(changes)) == changes)
        let odd = [Change.account(userID: "line\nbreak"), .account(userID: "plain")]
        #expect(PostgresChangeLog.changes(in: PostgresChangeLog.payload(odd)) == [.reset, .account(userID: "plain")])
    }
}
