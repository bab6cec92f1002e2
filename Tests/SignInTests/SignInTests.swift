import BasicsForTests
import Runtime
import SecurityGuard
import SignIn
import StateSurface
import Synchronization
import Testing
import TrafficCop

@Suite("Signing in: session and family, together or not at all")
struct SignInTests {
    let fixture: Fixture
    init() async throws { fixture = try await Fixture() }

    @Test("Without a session one is created, and the family is at home in it, for every method of authentication")
    func creates() async throws {
        let ada = try await fixture.account()
        let ways: [(ProvedAccount, String)] = [
            (ada, "login.succeeded"),
            (ProvedAccount(ada.account, by: .issuer("https://idp")), "login.succeeded issuer_token"),
        ]
        for (proved, line) in ways {
            fixture.audited.removeAll()
            let before = fixture.engine.transactions.load(ordering: .relaxed)
            let signedIn = try await fixture.signIn(proved)
            #expect(fixture.engine.transactions.load(ordering: .relaxed) == before + 1)
            #expect(signedIn.plan.word == "created")
            let family = try #require(try await fixture.store.family(id: signedIn.tokens.familyID))
            #expect(family.isLive && family.binding == signedIn.sessionID)
            let session = try #require(try await fixture.store.session(id: signedIn.sessionID))
            #expect(session.state == .authenticated && session.familyID == family.id)
            #expect(try await fixture.opens(signedIn.session))
            #expect(fixture.isGood(signedIn.tokens))
            #expect(fixture.audited.all == ["family.opened", line, "session.created"])
        }
    }

    @Test("An anonymous session keeps its id and changes its secret, in one transaction")
    func upgrades() async throws {
        let before = try await fixture.anonymous()
        let target = try #require(try await fixture.target(before))
        let account = try await fixture.account()
        fixture.audited.removeAll()
        let transactions = fixture.engine.transactions.load(ordering: .relaxed)
        let signedIn = try await fixture.signIn(account, to: target)
        #expect(fixture.engine.transactions.load(ordering: .relaxed) == transactions + 1)
        #expect(signedIn.plan.word == "upgraded" && signedIn.sessionID == before.session.id)
        #expect(try await !fixture.opens(before))
        #expect(try await fixture.opens(signedIn.session))
        #expect(try await fixture.store.family(id: signedIn.tokens.familyID)?.binding == before.session.id)
        #expect(fixture.audited.all == ["family.opened", "login.succeeded", "session.upgraded"])
    }

    @Test("Signing in again on one's own session ends the family that was at home there, with its guests")
    func resumes() async throws {
        let account = try await fixture.account()
        let first = try await fixture.signIn(account)
        let guest = try await fixture.guest(of: first)
        let second = try await fixture.signIn(account, to: fixture.target(first.session))
        #expect(second.plan.word == "resumed" && second.sessionID == first.sessionID)
        #expect(fixture.audited.all.contains("family.ended resumed"))
        #expect(try await fixture.store.family(id: first.tokens.familyID)?.isLive == false)
        #expect(!fixture.isGood(first.tokens) && fixture.isGood(second.tokens))
        #expect(try await fixture.state(guest.session.id) == .ended)
        #expect(try await fixture.state(second.sessionID) == .authenticated)
        #expect(try await !fixture.opens(first.session))
    }

    @Test("Resuming a session that is a guest leaves the family it was a guest of alone")
    func resumesGuest() async throws {
        let account = try await fixture.account()
        let first = try await fixture.signIn(account)
        let guest = try await fixture.guest(of: first)
        let second = try await fixture.signIn(account, to: fixture.target(guest))
        #expect(second.sessionID == guest.session.id)
        #expect(try await fixture.store.family(id: first.tokens.familyID)?.isLive == true)
        #expect(try await fixture.opens(first.session))
    }

    @Test("A session of another account is a conflict, and nothing of the sign-in exists")
    func foreign() async throws {
        let ada = try await fixture.signIn(fixture.account())
        let eve = try await fixture.account("eve@example.com")
        let target = try await fixture.target(ada.session)
        await #expect(throws: SessionFault(.conflict)) { try await fixture.signIn(eve, to: target) }
        #expect(try await fixture.store.liveFamilies(userID: eve.account.userID).isEmpty)
        #expect(try await fixture.opens(ada.session))
    }

    @Test("The secret of another session than the one named is no target; the named one is noted and not adopted")
    func notAdopted() async throws {
        let mine = try await fixture.anonymous()
        let other = try await fixture.anonymous()
        #expect(try await fixture.target(mine, named: other.session.id) == nil)
        let signedIn = try await fixture.signIn(fixture.account(), named: other.session.id)
        #expect(signedIn.sessionID != other.session.id)
        #expect(fixture.audited.all.contains("session.not_adopted secret_missing_or_wrong"))
    }

    @Test("Of two sign-ins on one session one wins; the other is told so and leaves no family", arguments: 0..<10)
    func race(round: Int) async throws {
        let session = try await fixture.anonymous()
        let target = try #require(try await fixture.target(session))
        let accounts = [try await fixture.account(), try await fixture.account("eve@example.com")]
        let winners = try await withThrowingTaskGroup(of: String?.self) { group in
            for proved in accounts {
                group.addTask { [fixture] in
                    do {
                        return try await fixture.signIn(proved, to: target).account.userID
                    } catch let fault as SessionFault where fault == SessionFault(.conflict) {
                        return nil
                    }
                }
            }
            return try await group.reduce(into: [String]()) { if let winner = $1 { $0.append(winner) } }
        }
        #expect(winners.count == 1)
        let owner = try #require(try await fixture.store.session(id: session.session.id)?.userID)
        #expect(winners == [owner])
        for proved in accounts {
            let families = try await fixture.store.liveFamilies(userID: proved.account.userID)
            #expect(families.count == (proved.account.userID == owner ? 1 : 0))
        }
    }

    @Test("A sign-in that is cut off before its commit leaves nothing, and nothing is told")
    func cutOff() async throws {
        let account = try await fixture.account()
        let session = try await fixture.anonymous()
        let target = try #require(try await fixture.target(session))
        let told = Collected<Change>()
        let subscription = fixture.store.subscribe { told.append($0) }
        defer { subscription.cancel() }
        fixture.audited.removeAll()
        fixture.engine.killsNext.store(true, ordering: .relaxed)
        await #expect(throws: InterruptibleEngine.Killed.self) { try await fixture.signIn(account, to: target) }
        #expect(try await fixture.store.liveFamilies(userID: account.account.userID).isEmpty)
        #expect(try await fixture.state(session.session.id) == .anonymous)
        #expect(told.all.isEmpty && fixture.audited.all.isEmpty)
        // The control: the same once more, left alone.
        #expect(try await fixture.signIn(account, to: target).plan.word == "upgraded")
        #expect(!told.all.isEmpty)
    }

    @Test("An account that changed since it was proved is not signed in", arguments: ["password", "disabled"])
    func changedMeanwhile(how: String) async throws {
        let proved = try await fixture.account()
        let session = try await fixture.anonymous()
        let target = try #require(try await fixture.target(session))
        let accounts = fixture.securityGuard.accounts
        switch how {
        case "password": _ = try await accounts.setPassword(userID: proved.account.userID, new: "another one")
        default: _ = try await accounts.disable(userID: proved.account.userID)
        }
        await #expect(throws: AuthError(.invalidCredentials)) { try await fixture.signIn(proved, to: target) }
        #expect(try await fixture.store.liveFamilies(userID: proved.account.userID).isEmpty)
        #expect(try await fixture.opens(session))
        #expect(fixture.audited.all.last == "login.refused changed_meanwhile")
    }

    @Test("A session that ran out since it was looked up is a conflict, and is marked as expired")
    func expired() async throws {
        let account = try await fixture.account()
        let session = try await fixture.anonymous()
        let target = try #require(try await fixture.target(session))
        fixture.clock.advance(by: 31 * 60_000)
        await #expect(throws: SessionFault(.conflict)) { try await fixture.signIn(account, to: target) }
        #expect(try await fixture.state(session.session.id) == .expired)
        #expect(try await fixture.store.liveFamilies(userID: account.account.userID).isEmpty)
        #expect(fixture.audited.all.last == "session.expired")
    }

    @Test("The secret before the current one repeats a sign-in for ten seconds, and no longer")
    func grace() async throws {
        let account = try await fixture.account()
        let session = try await fixture.anonymous()
        let first = try await fixture.signIn(account, to: fixture.target(session))
        fixture.clock.advance(by: 9_000)
        let again = try #require(try await fixture.target(session))
        let second = try await fixture.signIn(account, to: again)
        #expect(second.plan.word == "resumed" && second.sessionID == first.sessionID)
        fixture.clock.advance(by: 11_000)
        #expect(try await fixture.target(session) == nil)
        #expect(try await fixture.target(first.session) == nil)
    }

    @Test("What a user has too many of ends with the sign-in: guests first, then homes with their families")
    func surplus() async throws {
        let fixture = try await Fixture(perUser: 2)
        let account = try await fixture.account()
        let first = try await fixture.signIn(account)
        fixture.clock.advance(by: 1)
        let guest = try await fixture.guest(of: first)
        fixture.clock.advance(by: 1)
        let second = try await fixture.signIn(account)
        #expect(try await fixture.state(guest.session.id) == .ended)
        #expect(try await fixture.opens(first.session))
        fixture.clock.advance(by: 1)
        let third = try await fixture.signIn(account)
        #expect(try await fixture.state(first.sessionID) == .ended)
        #expect(try await fixture.store.family(id: first.tokens.familyID)?.isLive == false)
        #expect(try await fixture.opens(second.session))
        #expect(try await fixture.opens(third.session))
        #expect(fixture.audited.all.contains("session.ended too_many_sessions"))
    }

    @Test("Wrong passwords are limited, right ones are not")
    func limits() async throws {
        _ = try await fixture.account()
        func prove(_ password: String) async throws -> ProvedAccount {
            try await fixture.signIn.provePassword(
                email: "ada@example.com", password: password, tenantID: nil, clientAddress: Fixture.address)
        }
        for _ in 0..<10 { _ = try await prove(Fixture.password) }
        for _ in 0..<5 { await #expect(throws: AuthError(.invalidCredentials)) { try await prove("wrong") } }
        await #expect(throws: Denial.self) { try await prove(Fixture.password) }
    }
}
