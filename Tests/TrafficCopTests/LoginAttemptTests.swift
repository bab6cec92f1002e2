import Testing

@testable import TrafficCop

@Suite struct LoginAttemptTests {
    let clock = TestClock()

    private func makeCop(_ perMinute: Int = 10) -> TrafficCop {
        TrafficCop(limits: RateLimits(loginPerMinute: perMinute), clock: { [clock] in clock.now })
    }

    @Test("Ten failures on one account from one address, then no more; elsewhere nothing has changed")
    func perAccount() {
        let cop = self.makeCop()
        for _ in 0..<10 { #expect(cop.admitLogin(address: "a", account: "x").failure == nil) }
        #expect(cop.admitLogin(address: "a", account: "x").failure?.code == .rateLimited)
        #expect(cop.admitLogin(address: "a", account: "y").failure == nil)
        #expect(cop.admitLogin(address: "b", account: "x").failure == nil)
    }

    @Test("A hundred failures from one address, whatever the accounts")
    func perAddress() {
        let cop = self.makeCop()
        for index in 0..<100 { #expect(cop.admitLogin(address: "a", account: "\(index)").failure == nil) }
        #expect(cop.admitLogin(address: "a", account: "new").failure?.code == .rateLimited)
        #expect(cop.admitLogin(address: "b", account: "new").failure == nil)
    }

    @Test("Logins that succeed do not count")
    func successIsFree() throws {
        let cop = self.makeCop(2)
        for _ in 0..<100 { cop.loginDidNotFail(try cop.admitLogin(address: "a", account: "x").get()) }
        #expect(cop.admitLogin(address: "a", account: "x").failure == nil)
    }

    @Test("Many at once are held back before any of them has failed")
    func concurrent() async {
        let cop = self.makeCop()
        let admitted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { cop.admitLogin(address: "a", account: "x").failure == nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(admitted == 10)
    }

    @Test("What one account is refused does not use up the address")
    func refusalIsNotCharged() {
        let cop = self.makeCop(2)
        for _ in 0..<1_000 { _ = cop.admitLogin(address: "a", account: "x") }
        #expect(cop.admitLogin(address: "a", account: "y").failure == nil)
    }

    @Test("Address and account can't be shifted into each other")
    func noAmbiguity() {
        let cop = self.makeCop(1)
        #expect(cop.admitLogin(address: "ab", account: "c").failure == nil)
        #expect(cop.admitLogin(address: "a", account: "bc").failure == nil)
    }
}
