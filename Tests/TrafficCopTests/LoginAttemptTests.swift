import BasicsForTests
import Testing

@testable import TrafficCop

@Suite struct LoginAttemptTests {
    let clock = TestClock()

    private func makeCop(_ perMinute: Int = 10) -> TrafficCop {
        TrafficCop(limits: RateLimits(loginPerMinute: perMinute), clock: { [clock] in clock.now })
    }

    @Test("After ten failures on one account from one address, more are refused; others are not affected")
    func perAccount() {
        let trafficCop = makeCop()
        for _ in 0..<10 { #expect(trafficCop.admitLogin(address: "a", account: "x").failure == nil) }
        #expect(trafficCop.admitLogin(address: "a", account: "x").failure?.code == .rateLimited)
        #expect(trafficCop.admitLogin(address: "a", account: "y").failure == nil)
        #expect(trafficCop.admitLogin(address: "b", account: "x").failure == nil)
    }

    @Test("After a hundred failures from one address on any accounts, more are refused")
    func perAddress() {
        let trafficCop = makeCop()
        for index in 0..<100 { #expect(trafficCop.admitLogin(address: "a", account: "\(index)").failure == nil) }
        #expect(trafficCop.admitLogin(address: "a", account: "new").failure?.code == .rateLimited)
        #expect(trafficCop.admitLogin(address: "b", account: "new").failure == nil)
    }

    @Test("Logins that succeed do not count")
    func successIsFree() throws {
        let trafficCop = makeCop(2)
        for _ in 0..<100 { trafficCop.loginDidNotFail(try trafficCop.admitLogin(address: "a", account: "x").get()) }
        #expect(trafficCop.admitLogin(address: "a", account: "x").failure == nil)
    }

    @Test("Concurrent attempts are limited before any of them has failed")
    func concurrent() async {
        let trafficCop = makeCop()
        let admitted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { trafficCop.admitLogin(address: "a", account: "x").failure == nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(admitted == 10)
    }

    @Test("Attempts refused for one account do not count for the address")
    func refusalIsNotCharged() {
        let trafficCop = makeCop(2)
        for _ in 0..<1_000 { _ = trafficCop.admitLogin(address: "a", account: "x") }
        #expect(trafficCop.admitLogin(address: "a", account: "y").failure == nil)
    }

    @Test("Characters can't be moved between address and account to reach another counter")
    func noAmbiguity() {
        let trafficCop = makeCop(1)
        #expect(trafficCop.admitLogin(address: "ab", account: "c").failure == nil)
        #expect(trafficCop.admitLogin(address: "a", account: "bc").failure == nil)
    }

    @Test("Failures counted by other nodes count here, and an attempt refused for them takes nothing")
    func history() throws {
        let trafficCop = makeCop(2)
        func judge(byAddress: Int64, byAccount: Int64) throws -> Denial? {
            let attempt = try trafficCop.admitLogin(address: "a", account: "x").get()
            return trafficCop.judge(attempt, failuresByAddress: byAddress, failuresByAccount: byAccount)
        }
        for _ in 0..<50 { #expect(try judge(byAddress: 0, byAccount: 2)?.code == .rateLimited) }
        for _ in 0..<50 { #expect(try judge(byAddress: 20, byAccount: 0)?.code == .rateLimited) }
        #expect(try judge(byAddress: 19, byAccount: 1) == nil)
    }

    @Test("Without limits, counted failures have no effect")
    func unlimited() throws {
        let trafficCop = TrafficCop(limits: RateLimits(enabled: false), clock: { [clock] in clock.now })
        let attempt = try trafficCop.admitLogin(address: "a", account: "x").get()
        #expect(
            !trafficCop.limitsLogins && trafficCop.judge(attempt, failuresByAddress: 999, failuresByAccount: 999) == nil
        )
    }

    @Test("Counters have different names that do not reveal whom they count")
    func counters() throws {
        func makeCop(_ secret: UInt8) throws -> TrafficCop {
            let secret = [UInt8](repeating: secret, count: 32)
            return try TrafficCop(limits: RateLimits(), counterSecret: secret, clock: { [clock] in clock.now })
        }
        let trafficCop = try makeCop(1)
        let names = try [("a", "x"), ("a", "y"), ("b", "x")].map { address, account in
            try trafficCop.admitLogin(address: address, account: account).get().counters
        }
        #expect(Set(names.map(\.byAccount)).count == 3 && Set(names.map(\.byAddress)).count == 2)
        #expect(Set(names.map(\.byAccount)).isDisjoint(with: names.map(\.byAddress)))
        #expect(names.allSatisfy { $0.byAccount.utf8.count == 22 })
        // The same on every node and after a restart, and impossible to compute without the secret.
        #expect(try makeCop(1).admitLogin(address: "a", account: "x").get().counters == names[0])
        #expect(try makeCop(2).admitLogin(address: "a", account: "x").get().counters != names[0])
    }
}
