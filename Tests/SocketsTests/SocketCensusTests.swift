import Testing

@testable import Sockets

@Suite struct SocketCensusTests {
    @Test("A census counts sessions and users separately, and does not count sockets without either")
    func census() {
        let census = SocketCensus(perSession: 1, perUser: 2)
        #expect(census.enter(session: "a", user: "u") && !census.enter(session: "a", user: "v"))
        #expect(census.enter(session: "b", user: "u") && !census.enter(session: "c", user: "u"))
        census.leave(session: "a", user: "u")
        #expect(census.enter(session: "c", user: "u"))
        #expect(census.enter(session: "x", user: nil) && census.enter(session: "y", user: nil))
        #expect(census.enter(session: nil, user: "w") && census.enter(session: nil, user: "w"))
        #expect(!census.enter(session: nil, user: "w"))
    }
}
