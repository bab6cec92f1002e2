import BasicsForTests
import Encodings
import Foundation
import RandomForTests
import Runtime
import SecurityGuard
import StateSurface
import Testing

/// Logins, upgrades, refreshes, logouts, expiry and revocation at once on one session, through the API, in every order
/// of their calls to the store that a seeded dice can think of.
@Suite struct SessionInterleavingAPITests {
    @Test("In any order, no credential of an earlier epoch works, and the owner never changes", arguments: 0..<8)
    func schedules(block: Int) async throws {
        let gate = StepGate()
        let fixture = try await APIFixture(wrap: { SteppedEngine(inner: $0, gate: gate) })
        let world = APIWorld(fixture: fixture, gate: gate)
        for round in 0..<40 {
            let faults = try await world.run(seed: UInt64(block * 1_000 + round))
            #expect(faults.isEmpty, "seed \(block * 1_000 + round): \(faults)")
        }
    }
}

/// One fixture, many schedules: each has a session and two accounts of its own.
private struct APIWorld {
    let fixture: APIFixture
    let gate: StepGate

    private enum Act: CaseIterable {
        case login, rivalLogin, upgrade, refresh, logoutByToken, logoutBySecret, delete, expire, disable, password
    }

    private struct Cast {
        let id: String
        let secret: String
        let ada: String
        let eve: String
        let adaUser: String
        /// A login of Ada's elsewhere, whose token may claim the session.
        let elsewhere: Answer
    }

    private struct Outcome {
        let act: Act
        let status: Int
        let answer: Answer?
    }

    func run(seed: UInt64) async throws -> [String] {
        var dice = SeededGenerator(seed: seed)
        let cast = try await makeCast(seed)
        let acts =
            [.login, .rivalLogin, .upgrade] + (0..<4).map { _ in Act.allCases.randomElement(using: &dice) ?? .login }
        let offset = Int64.random(in: 0..<2, using: &dice) * 2_000_000
        var faults: [String] = []
        let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
            for act in acts {
                group.addTask {
                    defer { gate.finish() }
                    return try await StepGate.$isScheduled.withValue(true) { try await perform(act, cast, offset) }
                }
            }
            var before = try await fixture.state.session(id: cast.id)
            while await gate.settle(acts.count) {
                gate.step(&dice)
                _ = await gate.settle(acts.count)
                let after = try await fixture.state.session(id: cast.id)
                faults += Self.compare(before, after)
                before = after
            }
            gate.reset()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        return try await faults + check(cast, outcomes)
    }

    private func makeCast(_ seed: UInt64) async throws -> Cast {
        let (ada, eve) = ("ada\(seed)@example.com", "eve\(seed)@example.com")
        let account = try await fixture.account(ada)
        _ = try await fixture.account(eve)
        let elsewhere = try await fixture.login(ada)
        let made = try await fixture.anonymous()
        return Cast(
            id: made.sessionID, secret: made.secret ?? "", ada: ada, eve: eve, adaUser: account.userID,
            elsewhere: elsewhere)
    }

    private func perform(_ act: Act, _ cast: Cast, _ offset: Int64) async throws -> Outcome {
        let bearer = cast.elsewhere.token
        let answer: Answer? =
            switch act {
            case .login: try await fixture.login(cast.ada, secret: cast.secret)
            case .rivalLogin: try await fixture.login(cast.eve, secret: cast.secret)
            case .upgrade:
                try await fixture.send(
                    "PATCH", "/api/session/\(cast.id)/upgrade", Ask(token: bearer, secret: cast.secret))
            case .refresh: try await fixture.refresh(cast.elsewhere.refreshToken)
            case .logoutByToken: try await fixture.send("POST", "/api/auth/logout", Ask(token: bearer))
            case .logoutBySecret: try await fixture.send("POST", "/api/auth/logout", Ask(secret: cast.secret))
            case .delete: try await fixture.send("DELETE", "/api/session/\(cast.id)", Ask(secret: cast.secret))
            case .password:
                try await fixture.send(
                    "POST", "/api/auth/password",
                    Ask(#"{"current":"\#(APIFixture.password)","new":"another password"}"#, token: bearer))
            case .expire:
                try await { () -> Answer? in
                    _ = try await fixture.state.expireSessions(now: fixture.clock.read() + offset, limit: 1_000)
                    return nil
                }()
            case .disable:
                try await { () -> Answer? in
                    _ = try await fixture.guarding.accounts.disable(userID: cast.adaUser)
                    return nil
                }()
            }
        return Outcome(act: act, status: answer?.status ?? 200, answer: answer)
    }

    // MARK: What must hold

    /// From one step to the next.
    private static func compare(_ before: SessionRecord?, _ after: SessionRecord?) -> [String] {
        guard let before, let after else { return [] }
        var faults: [String] = []
        if before.userID != nil, before.userID != after.userID { faults.append("the owner changed") }
        if after.epoch < before.epoch { faults.append("the epoch fell") }
        if !before.state.isLive, after.state != before.state { faults.append("a dead session changed its state") }
        if after.state == .anonymous, before.state == .authenticated { faults.append("moved backwards") }
        return faults
    }

    /// When all callers have finished.
    private func check(_ cast: Cast, _ outcomes: [Outcome]) async throws -> [String] {
        var faults: [String] = []
        let record = try await fixture.state.session(id: cast.id)
        let upgrades = outcomes.filter { $0.answer?.text("session") == "upgraded" }
        if upgrades.count > 1 { faults.append("two logins upgraded one session") }
        // An account that is changed from two sides at once asks the slower one to try again.
        for outcome in outcomes where outcome.status >= 500 && !(outcome.act == .password && outcome.status == 503) {
            faults.append("\(outcome.act): \(outcome.status)")
        }

        // The first secret is good for nothing once the session has an owner.
        if record?.userID != nil || record?.state.isLive == false {
            let answer = try await fixture.send("GET", "/api/session/current", Ask(secret: cast.secret))
            if answer.status == 200 { faults.append("the first secret still opens the session") }
        }
        faults += try await checkFamilies(cast, outcomes)
        if outcomes.contains(where: { $0.act == .disable }) {
            let live = try await fixture.state.liveSessions(
                tenantID: "acme", userID: cast.adaUser, now: fixture.clock.read(), limit: 9)
            if !live.isEmpty { faults.append("a disabled user has a live session") }
        }
        return faults
    }

    /// What hangs on a family that has ended must be dead, and a secret must only open what it was handed out for.
    private func checkFamilies(_ cast: Cast, _ outcomes: [Outcome]) async throws -> [String] {
        var faults: [String] = []
        for answer in [cast.elsewhere] + outcomes.compactMap(\.answer) where !answer.token.isEmpty {
            guard let principal = fixture.guarding.proofForLogout(token: answer.token.utf8),
                let familyID = principal.familyID, let family = try await fixture.state.family(id: familyID)
            else {
                faults.append("a token without a family")
                continue
            }
            if family.isLive { continue }
            let me = try await fixture.send("GET", "/api/auth/me", Ask(token: answer.token))
            if me.status == 200 { faults.append("a token of a dead family is accepted") }
            if let refresh = answer.refreshToken {
                let next = try await fixture.refresh(refresh)
                if next.status == 200 { faults.append("a dead family was refreshed") }
            }
            let sessions = try await fixture.state.sessions(userID: nil, liveAt: nil, limit: 50)
            if sessions.contains(where: { $0.familyID == familyID && $0.state.isLive }) {
                faults.append("a session outlived its family")
            }
        }
        if outcomes.contains(where: { $0.act == .logoutByToken && $0.status == 204 }) {
            let me = try await fixture.send("GET", "/api/auth/me", Ask(token: cast.elsewhere.token))
            if me.status == 200 { faults.append("a token outlived its logout") }
        }
        return faults
    }
}

extension APIFixture {
    fileprivate func refresh(_ token: String?) async throws -> Answer {
        try await send("POST", "/api/auth/refresh", Ask(#"{"refresh_token":"\#(token ?? "")"}"#))
    }
}
