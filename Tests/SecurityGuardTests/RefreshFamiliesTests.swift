import BasicsForTests
import StateSurface
import StateSurfaceTesting
import Synchronization
import Testing

@testable import SecurityGuard

@Suite("Refresh families")
struct RefreshFamiliesTests {
    let fixture: Fixture
    init() async throws { fixture = try await Fixture() }

    func refresh(_ tokens: IssuedTokens) async throws -> RefreshOutcome {
        try await fixture.subject.refresh(try #require(tokens.refreshToken))
    }

    func rotated(_ tokens: IssuedTokens) async throws -> IssuedTokens {
        guard case .rotated(let next) = try await refresh(tokens) else { throw AuthError(.conflict) }
        return next
    }

    /// Changes an account in the store, and nothing that depends on it.
    func change(_ userID: String, _ change: (inout AccountRecord) -> Void) async throws {
        var account = try #require(try await fixture.state.account(userID: userID))
        change(&account)
        #expect(try await fixture.state.replace(account: account))
    }

    @Test("A refresh gives another pair of the same family, which stays at home where it is")
    func rotation() async throws {
        let first = try await fixture.subject.openFamily(for: fixture.account(), home: "ses_home")
        fixture.clock.advance(by: 1000)
        guard case .rotated(let second) = try await refresh(first) else {
            Issue.record("not rotated")
            return
        }
        #expect(try await fixture.state.family(id: first.familyID)?.binding == "ses_home")
        #expect(second.familyID == first.familyID)
        #expect(second.refreshToken != first.refreshToken)
        #expect(second.refreshToken?.utf8.count == 47)
        #expect(second.principal.tokenID != first.principal.tokenID)
        #expect(fixture.judge(second.accessToken).isGood)
        #expect(fixture.judge(first.accessToken).isGood)
    }

    @Test("Within the grace the predecessor gets the very same successor and a new access token")
    func repeatWithinGrace() async throws {
        let first = try await fixture.login()
        let second = try await rotated(first)
        fixture.clock.advance(by: 10_000)
        guard case .repeated(let again) = try await refresh(first) else {
            Issue.record("not repeated")
            return
        }
        #expect(again.refreshToken == second.refreshToken)
        #expect(again.accessToken != second.accessToken)
        #expect(try await rotated(again).familyID == first.familyID)
    }

    @Test("Reuse ends the family, its tokens and its sessions", arguments: ["late", "successor used", "two back"])
    func reuse(how: String) async throws {
        let first = try await fixture.login()
        try await fixture.state.insert(
            session: Sample.session("s1", owner: first.principal.subject, family: first.familyID))
        let second = try await rotated(first)
        switch how {
        case "late": fixture.clock.advance(by: 10_001)
        case "successor used": _ = try await rotated(second)
        default: _ = try await rotated(try await rotated(second))
        }
        guard case .refused(let refusal) = try await refresh(first) else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.endedFamily == first.familyID)
        #expect(refusal.endedSessions == ["s1"])
        #expect(fixture.reasons(.familyReused) == ["refresh_reused"])
        #expect(fixture.judge(first.accessToken).fault?.reason == "revoked")
        #expect(fixture.judge(second.accessToken).fault?.reason == "revoked")
        guard case .refused(let later) = try await refresh(second) else {
            Issue.record("the successor survived")
            return
        }
        #expect(later.endedFamily == nil)
    }

    @Test("Any number of racers get one successor", arguments: [2, 10, 100])
    func race(count: Int) async throws {
        let first = try await fixture.login()
        // All have read the family before one of them may replace it.
        let arrived = Mutex(0)
        fixture.state.pause(at: .beforeRotation) {
            arrived.withLock { $0 += 1 }
            while arrived.withLock({ $0 }) < count { await Task.yield() }
        }
        let fixture = fixture
        let text = try #require(first.refreshToken)
        let outcomes = try await withThrowingTaskGroup(of: RefreshOutcome.self) { group in
            for _ in 0..<count { group.addTask { try await fixture.subject.refresh(text) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        var successors: Set<String> = []
        var winners = 0
        for outcome in outcomes {
            switch outcome {
            case .rotated(let tokens):
                winners += 1
                successors.insert(tokens.refreshToken ?? "")
            case .repeated(let tokens): successors.insert(tokens.refreshToken ?? "")
            case .refused(let refusal): Issue.record("refused: \(refusal.reason)")
            }
        }
        #expect(winners == 1)
        #expect(successors.count == 1)
    }

    @Test("Two rotations within one moment order by position, not by time")
    func sameMoment() async throws {
        let first = try await fixture.login()
        _ = try await rotated(try await rotated(first))
        guard case .refused(let refusal) = try await refresh(first) else {
            Issue.record("accepted")
            return
        }
        #expect(refusal.endedFamily == first.familyID)
    }

    @Test(
        "After logout, the absolute end or the loss of the account nothing is refreshed",
        arguments: ["logout", "expiry", "disabled"])
    func deadFamilies(how: String) async throws {
        let first = try await fixture.login()
        switch how {
        case "logout": _ = try await fixture.subject.endFamily(first.familyID)
        case "expiry": fixture.clock.advance(by: 2_592_000_000)
        default: try await change(first.principal.subject) { $0.disabled = true }
        }
        guard case .refused(let refusal) = try await refresh(first) else {
            Issue.record("accepted")
            return
        }
        #expect(refusal.endedFamily == nil)
    }

    @Test("An account that was disabled between password and family is refused like a wrong password")
    func disabledMeanwhile() async throws {
        let account = try await fixture.account()
        _ = try await fixture.subject.accounts.disable(userID: account.userID)
        await #expect(throws: AuthError(.invalidCredentials)) { try await fixture.subject.openFamily(for: account) }
    }

    @Test("Another client's refresh changes nothing")
    func foreignClient() async throws {
        let first = try await fixture.login()
        guard
            case .refused(let refusal) = try await fixture.subject.refresh(first.refreshToken ?? "", clientID: "cli_x")
        else {
            Issue.record("accepted")
            return
        }
        #expect(refusal.reason == "client_mismatch")
        _ = try await rotated(first)
    }

    @Test("Scopes that the account lost are lost at the next refresh")
    func narrowedScope() async throws {
        let first = try await fixture.login()
        try await change(first.principal.subject) { $0.scope = ["write", "admin"] }
        #expect(try await rotated(first).principal.scope == ["write"])
    }

    @Test(
        "Text of another shape is unknown without a question to the store",
        arguments: ["", "ref_", "ref_AAAA", "sec_", "é"])
    func malformed(text: String) async throws {
        fixture.state.set(reachable: false)
        guard case .refused(let refusal) = try await fixture.subject.refresh(text) else {
            Issue.record("accepted")
            return
        }
        #expect(refusal.reason == "refresh_unknown")
    }

    @Test("Ending twice is harmless, and the store's failure is no refusal")
    func endTwiceAndOutage() async throws {
        let first = try await fixture.login()
        _ = try await fixture.subject.endFamily(first.familyID)
        #expect(try await fixture.subject.endFamily(first.familyID).isEmpty)
        fixture.state.set(reachable: false)
        await #expect(throws: StateSurfaceError.self) { try await refresh(first) }
    }

    @Test("The token's text is shown by nothing but itself")
    func noDescription() {
        let token = RefreshToken.random()
        let shown = "\(token) \(String(reflecting: token))"
        #expect(!shown.contains(token.text))
        var dumped = ""
        dump(token, to: &dumped)
        #expect(!dumped.contains(token.text) && dumped.utf8.count < 60)
    }
}
