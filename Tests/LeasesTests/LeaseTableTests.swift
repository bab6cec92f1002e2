import EdgeConfiguration
import LeasesForTests
import SecurityGuard
import StateSurface
import Testing

@testable import Leases

/// What ends and what extends a lease, with a clock of its own.
@Suite struct LeaseTableTests {
    final class Holder: LeaseHolder {
        private(set) var ends: [LeaseEnd] = []
        func leaseEnded(_ end: LeaseEnd) { ends.append(end) }
    }

    static let start: Int64 = 1_000_000

    func terms(
        session: String? = "s", epoch: Int64 = 1, token: String? = "t", family: String? = "f", expiresAt: Int64? = nil
    ) -> LeaseTerms {
        var terms = LeaseTerms()
        terms.sessionID = session
        terms.sessionEpoch = epoch
        terms.tokenID = token
        terms.familyID = family
        terms.subject = "u"
        terms.tokenIssuedAt = 10
        terms.expiresAt = expiresAt
        return terms
    }

    @Test(
        "A subject's lease ends by the version its family names; by its token's time only where it names none",
        arguments: [("f.6", true), ("f.7", false), ("f", true), ("f.x", true)])
    func subjectVersion(family: String, ends: Bool) {
        for issuedUntil in [10, 11] as [Int64] {
            let table = LeaseTable(now: Self.start)
            let holder = Holder()
            _ = table.insert(terms(family: family), holder: holder)
            table.subjectRevoked("u", SubjectCut(issuedUntil: issuedUntil, accountVersion: 7))
            #expect(holder.ends == (ends ? [.tokenRevoked] : []))
        }
    }

    @Test("Leases that rest on a token that is accepted no more end, by issuer and resource, and no others")
    func acceptance() {
        let table = LeaseTable(now: Self.start)
        func lease(_ issuer: String?, _ resource: String? = nil) -> Holder {
            var terms = terms()
            terms.foreignIssuer = issuer
            terms.resource = resource
            let holder = Holder()
            _ = table.insert(terms, holder: holder)
            return holder
        }
        let (a, b) = ("https://a.example", "https://b.example")
        let kept = [lease(nil), lease(a), lease(a, "r"), lease(nil, "r")]
        let gone = [lease(b), lease(b, "r"), lease(a, "x"), lease(nil, "x")]
        table.acceptanceChanged { issuer, resource in issuer != b && resource != "x" }
        #expect(kept.allSatisfy(\.ends.isEmpty) && gone.allSatisfy { $0.ends == [.tokenRevoked] })
    }

    @Test("A newer foreign token extends the leases of its session and origin alone, and never shortens one")
    func foreignExtension() throws {
        let table = LeaseTable(now: Self.start)
        func lease(_ session: String, _ origin: String?, _ expiry: Int64) -> Holder {
            var terms = terms(session: session, expiresAt: Self.start + expiry)
            terms.foreignOrigin = origin
            let holder = Holder()
            _ = table.insert(terms, holder: holder)
            return holder
        }
        let extended = lease("s", "o", 1_000)
        let others = [lease("s", "p", 1_000), lease("t", "o", 1_000), lease("s", nil, 1_000)]
        let longer = lease("s", "o", 9_000)
        table.sessionExtended("s", origin: "o", expiresAt: Self.start + 5_000)
        table.turn(now: Self.start + 2_000)
        #expect(others.allSatisfy { $0.ends == [.tokenExpired] } && extended.ends.isEmpty)
        table.turn(now: Self.start + 6_000)
        #expect(extended.ends == [.tokenExpired] && longer.ends.isEmpty)
    }

    @Test("A change of the account ends the leases whose lists it no longer meets, and no others")
    func account() throws {
        func profile(_ user: String, _ groups: [String]) -> CallerProfile {
            CallerProfile(
                AccountRecord(
                    userID: user, tenantID: "t", email: "", emailKey: user, passwordHash: nil, scope: [], createdAt: 0,
                    groups: groups))
        }
        let table = LeaseTable(now: Self.start)
        func lease(_ user: String?, _ group: String) -> Holder {
            var allow = RouteConfiguration.Allow()
            allow.groups = [group]
            var terms = terms()
            terms.account = user
            terms.allow = user == nil ? nil : AllowRules(allow)
            let holder = Holder()
            _ = table.insert(terms, holder: holder)
            return holder
        }
        let (staff, admin, other, free) = (
            lease("a", "staff"), lease("a", "admins"), lease("b", "staff"), lease(nil, "")
        )
        table.accountChanged(profile("a", ["staff", "admins"]))
        #expect([staff, admin, other, free].allSatisfy(\.ends.isEmpty) && table.count == 4)
        table.accountChanged(profile("a", ["staff"]))
        #expect(admin.ends == [.notAllowed] && table.count == 3)
        table.accountChanged(profile("a", []))
        #expect(staff.ends == [.notAllowed] && other.ends.isEmpty && free.ends.isEmpty && table.count == 2)
    }

    @Test("A session counts as held from before its lease is verified until its last lease has gone")
    func held() {
        let held = HeldSessions()
        var heldWhenVerified = false
        let authority = LeaseAuthorityModel(held: held) { _ in
            heldWhenVerified = held.contains("s")
            return nil
        }
        let table = LeaseTable(now: Self.start, authority: authority)
        let (first, second) = (Holder(), Holder())
        let one = table.insert(terms(), holder: first)
        #expect(heldWhenVerified)
        _ = table.insert(terms(), holder: second)
        table.remove(one)
        table.remove(one)
        #expect(held.contains("s") && !held.contains("other"))
        table.sessionEnded("s")
        #expect(second.ends == [.sessionEnded] && !held.contains("s"))
    }

    @Test("A refresh of its family moves the end, never back and never past the lifetime")
    func refresh() {
        let table = LeaseTable(now: Self.start)
        let (holder, other) = (Holder(), Holder())
        var limited = terms(expiresAt: Self.start + 1_000)
        limited.endsAt = Self.start + 4_000
        _ = table.insert(limited, holder: holder)
        _ = table.insert(terms(family: "g", expiresAt: Self.start + 1_000), holder: other)
        table.familyRefreshed("f", expiresAt: Self.start + 9_000)
        table.familyRefreshed("f", expiresAt: Self.start + 500)
        table.turn(now: Self.start + 1_100)
        #expect(holder.ends.isEmpty && other.ends == [.tokenExpired])
        table.turn(now: Self.start + 3_900)
        #expect(holder.ends.isEmpty)
        table.turn(now: Self.start + 4_100)
        #expect(holder.ends == [.lifetimeOver])
    }

    @Test("An end concerns only whom it names, and tells each once")
    func ends() {
        let acts: [(LeaseEnd, (LeaseTable) -> Void)] = [
            (.sessionEnded, { $0.sessionEnded("s") }), (.tokenRevoked, { $0.tokenRevoked("t") }),
            (.tokenRevoked, { $0.familyRevoked("f") }),
            (.tokenRevoked, { $0.subjectRevoked("u", SubjectCut(issuedUntil: 10, accountVersion: nil)) }),
            (.storeLost, { $0.endAll(.storeLost) }),
        ]
        for (reason, act) in acts {
            let table = LeaseTable(now: Self.start)
            let (holder, removed) = (Holder(), Holder())
            _ = table.insert(terms(), holder: holder)
            table.remove(table.insert(terms(), holder: removed))
            table.sessionEnded("other")
            table.tokenRevoked("other")
            table.familyRevoked("other")
            table.subjectRevoked("u", SubjectCut(issuedUntil: 9, accountVersion: nil))
            table.subjectRevoked("v", SubjectCut(issuedUntil: 10, accountVersion: nil))
            #expect(holder.ends.isEmpty)
            act(table)
            act(table)
            #expect(holder.ends == [reason] && removed.ends.isEmpty && table.count == 0)
        }
    }

    @Test("A key that is retired ends the leases of its tokens, but not those that a newer key's token has extended")
    func keys() {
        let table = LeaseTable(now: Self.start)
        let (old, new) = (KeyNumber(thumbprint: "old"), KeyNumber(thumbprint: "new"))
        func lease(_ key: KeyNumber?, family: String) -> Holder {
            var lease = terms(family: family, expiresAt: Self.start + 9_000)
            lease.key = key
            let holder = Holder()
            _ = table.insert(lease, holder: holder)
            return holder
        }
        let (resting, refreshed, late) = (lease(old, family: "f"), lease(old, family: "g"), lease(old, family: "h"))
        let (other, keyless) = (lease(new, family: "i"), lease(nil, family: "j"))
        table.familyRefreshed("g", expiresAt: Self.start + 20_000, key: new)
        table.familyRefreshed("h", expiresAt: Self.start + 8_000, key: new)
        table.keysChanged(generation: 1, retired: [])
        #expect(resting.ends.isEmpty)
        table.keysChanged(generation: 2, retired: [old])
        #expect(resting.ends == [.tokenRevoked])
        #expect(late.ends == [.tokenRevoked], "a refresh with an older expiry changes nothing")
        table.familyRefreshed("i", expiresAt: Self.start + 20_000)
        #expect(refreshed.ends.isEmpty && other.ends.isEmpty && keyless.ends.isEmpty)
        table.familyRefreshed("i", expiresAt: Self.start + 30_000, key: old)
        #expect(other.ends == [.tokenRevoked], "refreshed with a key that was retired")
        #expect(table.count == 2)
    }

    @Test("An upgrade ends what was anonymous or rests on an older secret; a token's socket stays")
    func upgrades() {
        let table = LeaseTable(now: Self.start)
        let (anonymous, secret, owner, current) = (Holder(), Holder(), Holder(), Holder())
        var anonymousTerms = terms(token: nil, family: nil)
        anonymousTerms.isAnonymous = true
        _ = table.insert(anonymousTerms, holder: anonymous)
        _ = table.insert(terms(token: nil, family: nil), holder: secret)
        _ = table.insert(terms(), holder: owner)
        _ = table.insert(terms(epoch: 2, token: nil, family: nil), holder: current)
        table.sessionMoved("s", to: 2)
        #expect(anonymous.ends == [.sessionUpgraded] && secret.ends == [.sessionUpgraded])
        #expect(owner.ends.isEmpty && current.ends.isEmpty)
    }

    @Test("A lease that was over before it was taken ends at the next turn")
    func endedBefore() {
        let authority = LeaseAuthorityModel { $0.tokenID == "dead" ? .tokenRevoked : nil }
        let table = LeaseTable(now: Self.start, authority: authority)
        let (late, good) = (Holder(), Holder())
        _ = table.insert(terms(token: "dead"), holder: late)
        _ = table.insert(terms(), holder: good)
        #expect(late.ends.isEmpty, "the holder is told when it is ready to be")
        table.turn(now: Self.start + 100)
        #expect(late.ends == [.tokenRevoked] && good.ends.isEmpty)
    }
}
