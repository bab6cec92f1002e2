import StateSurface
import StateSurfaceTesting
import Synchronization
import Testing

@testable import SecurityGuard

/// The profiles in memory, which the change feed keeps up to date.
@Suite struct CallerProfilesTests {
    private func stored(_ fixture: Fixture) async throws -> AccountRecord {
        var account = try await fixture.account()
        account.groups = ["staff"]
        #expect(try await fixture.state.replace(account: account))
        account.version += 1
        return account
    }

    private func groups(_ known: CallerProfiles.Known) -> [String]? {
        if case .current(let profile) = known { profile.groups } else { nil }
    }

    @Test("A profile is unknown until it was read, then known, and unknown again after a change")
    func change() async throws {
        let fixture = try await Fixture()
        let profiles = fixture.subject.profiles
        var account = try await stored(fixture)
        #expect(groups(profiles.known(account.userID)) == nil)
        #expect(try await profiles.load(account.userID).groups == ["staff"])
        #expect(groups(profiles.known(account.userID)) == ["staff"])
        let before = profiles.changes(of: account.userID).value
        account.groups = ["admins"]
        #expect(try await fixture.state.replace(account: account))
        #expect(groups(profiles.known(account.userID)) == nil && profiles.changes(of: account.userID).value != before)
        #expect(try await profiles.load(account.userID).groups == ["admins"])
    }

    @Test("A change of one account leaves most others as they were for the event loops")
    func changeOfOne() async throws {
        let fixture = try await Fixture()
        let profiles = fixture.subject.profiles
        var account = try await stored(fixture)
        let others = (0..<200).map { profiles.changes(of: "usr_\($0)") }
        let before = others.map(\.value)
        account.groups = ["admins"]
        #expect(try await fixture.state.replace(account: account))
        let moved = zip(others, before).filter { $0.value != $1 }.count
        #expect(moved < 20, "\(moved) of 200")
    }

    @Test("After an interruption of the feed a profile is doubtful until it was read again")
    func interruption() async throws {
        let fixture = try await Fixture()
        let profiles = fixture.subject.profiles
        let account = try await stored(fixture)
        _ = try await profiles.load(account.userID)
        let before = profiles.changes(of: account.userID).value
        fixture.state.tell(.reset)
        #expect(profiles.changes(of: account.userID).value != before)
        guard case .doubtful(let profile) = profiles.known(account.userID) else {
            Issue.record("not doubtful")
            return
        }
        #expect(profile.groups == ["staff"])
        _ = try await profiles.load(account.userID)
        #expect(groups(profiles.known(account.userID)) == ["staff"])
    }

    @Test("Concurrent calls for one account all get it, whatever changes meanwhile")
    func concurrent() async throws {
        let fixture = try await Fixture()
        let profiles = fixture.subject.profiles
        let account = try await stored(fixture)
        let found = try await withThrowingTaskGroup(of: [String].self) { group in
            for call in 0..<200 {
                group.addTask {
                    if call.isMultiple(of: 10) { fixture.state.tell(.account(userID: account.userID)) }
                    return try await profiles.load(account.userID).groups
                }
            }
            return try await group.reduce(into: [[String]]()) { $0.append($1) }
        }
        #expect(found.count == 200 && found.allSatisfy { $0 == ["staff"] })
        _ = try await profiles.load(account.userID)
        #expect(groups(profiles.known(account.userID)) == ["staff"])
    }

    @Test("Several accounts are read in one go, also those that others ask for meanwhile")
    func several() async throws {
        let fixture = try await Fixture()
        let profiles = fixture.subject.profiles
        let account = try await stored(fixture)
        let before = fixture.state.accountReads
        let others = Mutex<[Task<CallerProfile, any Error>]>([])
        fixture.state.pause(at: .accountsRead) {
            // The first of the group to read them again would be counted.
            await profiles.load(contentsOf: [account.userID, "usr_nobody"])
            let other = Task.immediate { try await profiles.load(account.userID) }
            others.withLock { $0.append(other) }
        }
        await profiles.load(contentsOf: [account.userID, "usr_nobody", account.userID])
        let waiting = others.withLock { $0 }
        #expect(waiting.count == 1)
        for other in waiting { #expect(try await other.value.groups == ["staff"]) }
        #expect(groups(profiles.known(account.userID)) == ["staff"])
        #expect(groups(profiles.known("usr_nobody")) == [])
        #expect(fixture.state.accountReads == before + 1)
    }

    @Test("Of several accounts, one that has changed since it was read is not remembered")
    func severalOvertaken() async throws {
        let fixture = try await Fixture()
        let profiles = fixture.subject.profiles
        let account = try await stored(fixture)
        fixture.state.pause(at: .accountsRead) { fixture.state.tell(.account(userID: account.userID)) }
        await profiles.load(contentsOf: [account.userID, "usr_nobody"])
        #expect(groups(profiles.known(account.userID)) == nil)
        #expect(groups(profiles.known("usr_nobody")) == [])
    }

    @Test("Accounts that could not be read are unknown, and read again")
    func severalFailed() async throws {
        let fixture = try await Fixture()
        let profiles = fixture.subject.profiles
        let account = try await stored(fixture)
        fixture.state.set(reachable: false)
        await profiles.load(contentsOf: [account.userID])
        #expect(groups(profiles.known(account.userID)) == nil)
        fixture.state.set(reachable: true)
        #expect(try await profiles.load(account.userID).groups == ["staff"])
    }

    @Test("A user without an account has an empty profile, which is remembered")
    func unknown() async throws {
        let fixture = try await Fixture()
        let profile = try await fixture.subject.profiles.load("usr_nobody")
        #expect(profile.groups.isEmpty && profile.email == nil && profile.version == -1)
        #expect(groups(fixture.subject.profiles.known("usr_nobody")) == [])
    }

    @Test("Only a verified e-mail counts; domains compare exactly and without case; groups with case")
    func matching() async throws {
        let fixture = try await Fixture()
        var account = try await stored(fixture)
        account.email = "Ada@Mail.Example.COM"
        let profile = CallerProfile(account)
        let rows: [(String, Bool)] = [
            ("mail.example.com", true), ("example.com", false), ("x.mail.example.com", false), ("com", false),
            ("", false),
        ]
        for (domain, matches) in rows { #expect(profile.hasDomain(in: NameSet([domain])) == matches, "\(domain)") }
        #expect(profile.isMember(ofAny: NameSet(["x", "staff"])) && !profile.isMember(ofAny: NameSet(["Staff"])))
        account.emailVerified = false
        let unverified = CallerProfile(account)
        #expect(unverified.email == nil && !unverified.hasDomain(in: NameSet(["mail.example.com"])))
        account.groups = ["e\u{301}"]
        #expect(!CallerProfile(account).isMember(ofAny: NameSet(["\u{e9}"])), "bytes, not canonical equivalence")
    }

    @Test("What a store should not hold is cut to the limits: 100 groups of 1 to 128 bytes")
    func limits() async throws {
        let fixture = try await Fixture()
        var account = try await stored(fixture)
        account.groups = ["", String(repeating: "g", count: 129)] + (0..<150).map { "g\($0)" }
        account.name = ""
        let profile = CallerProfile(account)
        #expect(profile.groups == (0..<100).map { "g\($0)" } && profile.name == nil)
    }
}
