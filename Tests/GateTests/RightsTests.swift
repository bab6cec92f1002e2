import Answers
import EdgeConfiguration
import Runtime
import SecurityGuard
import StateSurface
import Testing

@testable import Gate

/// Who may pass a route: `allow`, `fresh` and `acr`, for every way to come in.
@Suite("Who may pass") struct RightsTests {
    private typealias Allow = RouteConfiguration.Allow

    private static func allow(_ change: (inout Allow) -> Void) -> Allow {
        var allow = Allow()
        change(&allow)
        return allow
    }

    /// `allow` of every kind that the fixture's caller meets, and the same with an entry that they do not.
    private static func lists(_ userID: String) -> [(name: String, met: Allow, unmet: Allow)] {
        [
            ("scopes_any", allow { $0.scopesAny = ["x", "read"] }, allow { $0.scopesAny = ["x", "READ"] }),
            ("groups", allow { $0.groups = ["x", "staff"] }, allow { $0.groups = ["x", "Staff"] }),
            ("users", allow { $0.users = [userID] }, allow { $0.users = ["usr_x"] }),
            (
                "email_domains", allow { $0.emailDomains = ["EXAMPLE.com"] },
                allow { $0.emailDomains = ["com", "a.example.com"] }
            ),
            ("clients", allow { $0.clients = ["gatehouse"] }, allow { $0.clients = ["cli_x"] }),
            ("tenants", allow { $0.tenants = ["acme"] }, allow { $0.tenants = ["other"] }),
            ("an empty list", Allow(), allow { $0.groups = [] }),
        ]
    }

    @Test("Each list lets in whom it names and refuses others, over fields, handshakes, tickets and secrets alike")
    func lists() async throws {
        let fixture = try await GateFixture()
        let userID = try await fixture.setAccount { $0.groups = ["staff"] }
        for (name, met, unmet) in Self.lists(userID) {
            for (allow, expected) in [(met, "ok"), (unmet, "not_allowed")] {
                for (way, requirement, request) in try await fixture.ways() {
                    if requirement == .session, name == "scopes_any" || name == "clients" { continue }
                    let terms = AccessTerms(requirement: requirement, allow: allow)
                    // The first time the store is asked; then memory answers.
                    for _ in 0..<2 {
                        let request = try await request()
                        let found = try await fixture.verdict(request, way, terms)
                        #expect(found == expected, "\(name), \(requirement) by \(way)")
                    }
                }
            }
        }
    }

    @Test("All lists that are given have to be met")
    func conjunction() async throws {
        let fixture = try await GateFixture()
        _ = try await fixture.setAccount { $0.groups = ["staff"] }
        let rows: [(groups: String, tenant: String, code: String)] = [
            ("staff", "acme", "ok"), ("staff", "other", "not_allowed"), ("x", "acme", "not_allowed"),
        ]
        for row in rows {
            let allow = Self.allow {
                $0.groups = [row.groups]
                $0.tenants = [row.tenant]
            }
            let terms = AccessTerms(requirement: .token, allow: allow)
            #expect(try await fixture.verdict(fixture.token(.valid, .fields), .fields, terms) == row.code)
        }
    }

    @Test("A change of the account counts for the next request, for callers that the gate remembers as well")
    func change() async throws {
        let fixture = try await GateFixture()
        let terms = AccessTerms(requirement: .token, allow: Self.allow { $0.groups = ["staff"] })
        for isMember in [true, false, true] {
            _ = try await fixture.setAccount { $0.groups = isMember ? ["staff"] : [] }
            let request = fixture.token(.valid, .fields)
            #expect(try fixture.known(request, .fields, terms) == nil, "not from memory")
            let found = try await fixture.verdict(request, .fields, terms)
            #expect(found == (isMember ? "ok" : "not_allowed"))
            let known = try fixture.known(request, .fields, terms)
            #expect((known != nil) == isMember)
        }
    }

    @Test("A token that is revoked while the store is asked admits nothing; no socket opens when the feed falls silent")
    func endedMeanwhile() async throws {
        let fixture = try await GateFixture()
        let terms = AccessTerms(requirement: .token)
        let admission = try #require(try await fixture.admission(fixture.token(.valid, .fields), .fields, terms))
        let gate = Gate(fixture.memory)
        let answer = UnconfirmedAdmission(admission)
        #expect(try gate.confirm(answer, opensSocket: true).principal?.tokenID == admission.principal?.tokenID)
        fixture.memory.storeHealth = .silent
        #expect(try gate.confirm(answer, opensSocket: false).principal != nil)
        #expect(throws: Problem.self) { try gate.confirm(answer, opensSocket: true) }
        fixture.memory.storeHealth = .current
        let family = try #require(admission.principal?.familyID)
        try await fixture.state.revoke(
            Revocation(kind: .family, id: family, expiresAt: fixture.memory.now() + 60_000))
        #expect(throws: Problem.self) { try gate.confirm(answer, opensSocket: false) }
    }

    @Test("An unverified e-mail matches no domain")
    func unverified() async throws {
        let fixture = try await GateFixture()
        let terms = AccessTerms(requirement: .token, allow: Self.allow { $0.emailDomains = ["example.com"] })
        for isVerified in [true, false] {
            _ = try await fixture.setAccount { $0.emailVerified = isVerified }
            let found = try await fixture.verdict(fixture.token(.valid, .fields), .fields, terms)
            #expect(found == (isVerified ? "ok" : "not_allowed"))
        }
    }

    @Test("An anonymous session meets no list, and passes where there is none")
    func anonymous() async throws {
        let fixture = try await GateFixture()
        let secret = try await fixture.anonymousSecret()
        let request = Carried.field("Session-Secret", secret)
        let lists = Self.lists("usr_x").filter { $0.name != "scopes_any" && $0.name != "clients" }
        for (name, met, unmet) in lists {
            for allow in [met, unmet] {
                let expected = allow == Allow() ? "ok" : "not_allowed"
                let terms = AccessTerms(requirement: .session, allow: allow)
                #expect(try await fixture.verdict(request, .fields, terms) == expected, "\(name)")
            }
        }
    }

    @Test(
        "fresh and acr ask for another sign-in with a challenge of RFC 9470",
        arguments: [
            (Int64?.none, [String](), nil), (60_000, [], nil), (1_000, [], nil),
            (nil, ["phr"], ", acr_values=\"phr\""),
            (60_000, ["phr", "gold"], ", max_age=\"60\", acr_values=\"phr gold\""),
        ])
    func signIn(fresh: Int64?, acr: [String], challenge: String?) async throws {
        let fixture = try await GateFixture()
        let terms = AccessTerms(requirement: .tokenAndSession, freshness: fresh, contextClasses: acr)
        let request = fixture.token(.valid, .fields) + fixture.session(.valid, .fields)
        guard let challenge else {
            #expect(try await fixture.verdict(request, .fields, terms) == "ok")
            return
        }
        let problem = try await #require(fixture.problem(request, .fields, terms))
        #expect(problem.status == 401 && problem.asDecision.status == 401)
        let field = try #require(problem.answerHeaders().first { $0.name == "WWW-Authenticate" }).value
        #expect(
            field == "Bearer realm=\"gatehouse\", error=\"insufficient_user_authentication\"" + challenge)
    }

    @Test("A sign-in is fresh for as long as the route says, and a token without auth_time never is")
    func freshness() throws {
        func code(_ age: Int64?, _ acr: String?) -> String? {
            let now: Int64 = 1_800_000_000_000
            let principal = Principal.forTests(authenticatedAt: age.map { now - $0 }, acr: acr)
            let terms = AccessTerms(requirement: .token, freshness: 300_000, contextClasses: ["phr"])
            do throws(Problem) { try terms.requireRights(of: principal, nil, now: now) } catch {
                return error.reason
            }
            return nil
        }
        #expect(code(0, "phr") == nil && code(300_000, "phr") == nil)
        #expect(code(300_001, "phr") == "sign_in_too_old" && code(nil, "phr") == "sign_in_too_old")
        #expect(code(0, nil) == "sign_in_too_weak" && code(0, "PHR") == "sign_in_too_weak")
    }

    @Test("While the store is silent, known profiles go on; an unknown one passes only where no rule depends on it")
    func silentStore() async throws {
        let fixture = try await GateFixture()
        _ = try await fixture.setAccount { $0.groups = ["staff"] }
        let free = AccessTerms(requirement: .token)
        let bound = AccessTerms(requirement: .token, allow: Self.allow { $0.groups = ["staff"] })
        let request = fixture.token(.valid, .fields)
        fixture.memory.storeHealth = .silent
        #expect(try await fixture.verdict(request, .fields, free) == "ok")
        #expect(try await fixture.verdict(request, .fields, bound) == "store_unavailable")
        fixture.memory.storeHealth = .current
        #expect(try await fixture.verdict(request, .fields, bound) == "ok")
        fixture.memory.storeHealth = .silent
        #expect(try await fixture.verdict(request, .fields, bound) == "ok")
    }
}
