import StateSurface
import Testing

@testable import SecurityGuard

@Suite("Refresh decision")
struct RefreshDecisionTests {
    let now: Int64 = 1_800_000_000_000

    func family(_ adjust: (inout FamilyRecord) -> Void = { _ in }) -> FamilyRecord {
        var family = FamilyRecord(
            id: "f", tenantID: "t", userID: "usr_u", clientID: "gatehouse", scope: [], binding: nil,
            createdAt: now - 1000,
            absoluteExpiresAt: now + 1_000_000, currentHash: [5], previousHash: [4], successorSalt: [9],
            rotatedAt: now - 1, counter: 5)
        adjust(&family)
        return family
    }

    func decide(
        _ family: FamilyRecord, _ position: Int64, _ hash: [UInt8], client: String? = nil
    ) -> RefreshDecision {
        .decide(family, position: position, presented: hash, clientID: client, grace: 10_000, now: now)
    }

    @Test("The current token rotates")
    func current() {
        #expect(decide(family(), 5, [5]) == .rotate)
        #expect(decide(family(), 5, [5], client: "gatehouse") == .rotate)
    }

    @Test(
        "The one before it is repeated for ten seconds and reuse afterwards",
        arguments: [0, 1, 9_999, 10_000, 10_001, 60_000] as [Int64])
    func grace(age: Int64) {
        let family = family { $0.rotatedAt = now - age }
        #expect(decide(family, 4, [4]) == (age <= 10_000 ? .repeat : .reuse))
    }

    @Test("A rotation that seems to lie far in the future gives no grace")
    func futureRotation() {
        #expect(decide(family { $0.rotatedAt = now + 2000 }, 4, [4]) == .repeat)
        #expect(decide(family { $0.rotatedAt = now + 3_600_000 }, 4, [4]) == .reuse)
        #expect(decide(family { $0.rotatedAt = .min }, 4, [4]) == .reuse)
    }

    @Test("Any older token is reuse, at any time", arguments: [0, 1, 3] as [Int64])
    func older(position: Int64) { #expect(decide(family(), position, [1]) == .reuse) }

    @Test("A family without a salt or with another predecessor repeats nothing")
    func noSalt() {
        #expect(decide(family { $0.successorSalt = nil }, 4, [4]) == .reuse)
        #expect(decide(family { $0.previousHash = [3] }, 4, [4]) == .reuse)
        #expect(decide(family { $0.previousHash = nil }, 4, [4]) == .reuse)
    }

    @Test("A dead or expired family and a foreign client are refused without consequence")
    func refusals() {
        #expect(decide(family { $0.isLive = false }, 5, [5]) == .refuse(.ended))
        #expect(decide(family { $0.isLive = false }, 0, [0]) == .refuse(.ended))
        #expect(decide(family { $0.absoluteExpiresAt = now }, 5, [5]) == .refuse(.expired))
        #expect(decide(family(), 5, [5], client: "cli_x") == .refuse(.foreignClient))
        #expect(decide(family(), 0, [0], client: "cli_x") == .refuse(.foreignClient))
    }
}
