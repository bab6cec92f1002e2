import NIOCore
import Testing

@testable import Leases

/// What a client is told when the gateway ends its socket: bytes that clients rely on.
@Suite struct LeaseEndTests {
    @Test(
        "Every end has its close code and its reason",
        arguments: [
            (.notAllowed, 4403, "not_allowed"),
            (.tokenExpired, 4401, "token_expired"), (.lifetimeOver, 4401, "token_expired"),
            (.tokenRevoked, 4401, "token_revoked"), (.sessionEnded, 4403, "session_ended"),
            (.sessionUpgraded, 4409, "session_upgraded"), (.draining, 1001, "draining"),
            (.storeLost, 1013, "store_unavailable"),
        ] as [(LeaseEnd, UInt16, String)])
    func ends(end: LeaseEnd, code: UInt16, reason: String) {
        var expected = ByteBuffer(bytes: [0x88, UInt8(2 + reason.utf8.count)])
        expected.writeInteger(code)
        expected.writeString(reason)
        #expect(end.frame == expected && end.close.frame == expected)
    }
}
