import Testing

@testable import Sockets

@Suite struct SocketLimiterTests {
    @Test("A limiter counts sessions and users separately, and does not count sockets without either")
    func limiter() {
        let limiter = SocketLimiter(perSession: 1, perUser: 2)
        #expect(limiter.enter(session: "a", user: "u") && !limiter.enter(session: "a", user: "v"))
        #expect(limiter.enter(session: "b", user: "u") && !limiter.enter(session: "c", user: "u"))
        limiter.leave(session: "a", user: "u")
        #expect(limiter.enter(session: "c", user: "u"))
        #expect(limiter.enter(session: "x", user: nil) && limiter.enter(session: "y", user: nil))
        #expect(limiter.enter(session: nil, user: "w") && limiter.enter(session: nil, user: "w"))
        #expect(!limiter.enter(session: nil, user: "w"))
    }
}
