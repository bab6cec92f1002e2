import Leases
import Runtime
import Testing

@testable import Sockets

@Suite struct SocketCloseTests {
    @Test(
        "What the Runtime says of an agent's connection has a close code here",
        arguments: [
            (.sessionEnded, 4403, "session_ended"), (.permitOutgrown, 4401, "token_revoked"),
            (.fellBehind, 1013, "overloaded"),
        ] as [(AgentEnd, UInt16, String)])
    func agents(end: AgentEnd, code: UInt16, reason: String) {
        #expect(SocketClose(end) == SocketClose(code: code, reason: reason))
    }
}
