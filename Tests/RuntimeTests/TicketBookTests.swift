import BasicsForTests
import Testing

@testable import Runtime

@Suite struct TicketBookTests {
    let fixture = RuntimeFixture()

    private func mint(origin: String? = nil) async throws -> String {
        let permit = try await fixture.permit(try await fixture.authenticated().session)
        let ticket = try await fixture.runtime.mintTicket(for: permit, tokenFacts: [1, 2, 3], origin: origin)
        return try #require(ticket)
    }

    private func redeem(_ ticket: String, origin: String? = nil) async throws -> TicketGrant? {
        try await fixture.runtime.redeemTicket(ticket.utf8, origin: origin)
    }

    @Test("A ticket brings back what it was made with, once")
    func once() async throws {
        let ticket = try await mint()
        #expect(ticket.hasPrefix("tkt_") && ticket.utf8.count == 47)
        let grant = try #require(try await redeem(ticket))
        #expect(grant.tokenFacts == [1, 2, 3] && grant.epoch == 0)
        #expect(try await redeem(ticket) == nil)
    }

    @Test("A ticket lasts 30 seconds, and a clock that is set back does not lengthen that")
    func lifetime() async throws {
        let tickets = [try await mint(), try await mint(), try await mint()]
        fixture.clock.advance(by: 29_999)
        #expect(try await redeem(tickets[0]) != nil)
        fixture.clock.advance(by: 1)
        #expect(try await redeem(tickets[1]) == nil)
        fixture.clock.advance(by: -30_001)
        #expect(try await redeem(tickets[2]) == nil)
    }

    /// A node that shares the store, with a clock of its own.
    private func neighbour(ahead: Int64, policy: SessionPolicy = SessionPolicy()) -> RuntimeFixture {
        let clock = TestClock()
        clock.advance(by: fixture.clock.now - clock.now + ahead)
        return RuntimeFixture(store: fixture.store, clock: clock, policy: policy)
    }

    @Test(
        "A ticket is good at a node whose clock differs by no more than the skew",
        arguments: [-30_000, -20, 0, 20, 30_000, 59_999] as [Int64])
    func skew(ahead: Int64) async throws {
        let ticket = try await mint()
        #expect(try await neighbour(ahead: ahead).runtime.redeemTicket(ticket.utf8, origin: nil) != nil)
        #expect(try await redeem(ticket) == nil, "used up")
    }

    @Test(
        "A ticket that is out of its time by a node's clock is refused there and not used up",
        arguments: [-30_001, 60_000, .min / 2, .max / 2] as [Int64])
    func faultOfAClock(ahead: Int64) async throws {
        let ticket = try await mint()
        let other = neighbour(ahead: ahead)
        #expect(try await other.runtime.redeemTicket(ticket.utf8, origin: nil) == nil)
        #expect(try await redeem(ticket) != nil)
    }

    @Test("Without a skew other nodes judge a ticket's time as exactly as its own")
    func noSkew() async throws {
        let exact = SessionPolicy(clockSkew: 0)
        let ticket = try await mint()
        for ahead in [-1, 30_000] as [Int64] {
            let other = neighbour(ahead: ahead, policy: exact)
            #expect(try await other.runtime.redeemTicket(ticket.utf8, origin: nil) == nil)
        }
        let other = neighbour(ahead: 29_999, policy: exact)
        #expect(try await other.runtime.redeemTicket(ticket.utf8, origin: nil) != nil)
    }

    @Test(
        "A ticket binds the Origin it was bought from; bought without one, it binds none",
        arguments: [
            ("https://a.example", "https://a.example", true), ("https://a.example", "https://b.example", false),
            ("https://a.example", nil, false), ("https://a.example", "https://A.example", false),
            (nil, "https://a.example", true), (nil, nil, true), ("null", "null", true),
        ] as [(String?, String?, Bool)])
    func origin(minted: String?, shown: String?, isGood: Bool) async throws {
        let ticket = try await mint(origin: minted)
        let grant = try await redeem(ticket, origin: shown)
        #expect((grant != nil) == isGood)
        // Shown at the wrong door, it is used up as well.
        #expect(try await redeem(ticket, origin: minted) == nil)
    }

    @Test(
        "What is no ticket is none",
        arguments: ["", "tkt_", "sec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "tkt_\u{E9}"])
    func malformed(ticket: String) async throws {
        #expect(try await redeem(ticket) == nil)
    }

    @Test("A second spelling of a ticket is none")
    func noncanonical() async throws {
        let ticket = try await mint()
        // 32 bytes leave two unused bits in the last character.
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        for last in alphabet where !ticket.hasSuffix(String(last)) {
            #expect(try await redeem(String(ticket.dropLast()) + String(last)) == nil)
        }
        #expect(try await redeem(ticket) != nil)
    }

    @Test("Of many who use one ticket at once, one gets in")
    func race() async throws {
        let ticket = try await mint()
        let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { try await redeem(ticket) != nil } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(winners == 1)
    }

    @Test("A ticket's epoch does not fit the session any more after a new login")
    func epoch() async throws {
        let issued = try await fixture.authenticated()
        let permit = try await fixture.permit(issued.session)
        let minted = try await fixture.runtime.mintTicket(for: permit, tokenFacts: [], origin: nil)
        _ = try await fixture.resume(issued.session.id, secret: issued.secret.hash, family: "new")
        let ticket = try #require(minted)
        let grant = try #require(try await redeem(ticket))
        let admitted = try await fixture.runtime.admit(
            sessionID: grant.sessionID, tenantID: "t", userID: "usr_a", epoch: grant.epoch)
        #expect(admitted.failure == .mismatch)
    }

    @Test("The number of unused tickets is limited, and old ones make room")
    func bounded() async throws {
        let permit = try await fixture.permit(try await fixture.authenticated().session)
        func mint() async throws -> String? {
            try await fixture.runtime.mintTicket(for: permit, tokenFacts: [], origin: nil)
        }
        for _ in 0..<TicketBook.limit { #expect(try await mint() != nil) }
        #expect(try await mint() == nil)
        fixture.clock.advance(by: 30_000)
        #expect(try await mint() != nil)
    }
}
