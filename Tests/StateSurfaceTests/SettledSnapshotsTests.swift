import Testing

@testable import StateSurface

@Suite("The snapshots by which the change log is cleared")
struct SettledSnapshotsTests {
    private let start = ContinuousClock.now

    @Test("A snapshot is of use once it is a minute old, and the newest such one is given")
    func age() {
        var snapshots = SettledSnapshots()
        #expect(snapshots.settled(at: start) == nil)
        snapshots.add("1:1:", takenBy: start)
        snapshots.add("2:2:", takenBy: start + .seconds(30))
        #expect(snapshots.settled(at: start + .milliseconds(59_999)) == nil)
        #expect(snapshots.settled(at: start + .seconds(60)) == "1:1:")
        #expect(snapshots.settled(at: start + .milliseconds(89_999)) == "1:1:")
        #expect(snapshots.settled(at: start + .seconds(90)) == "2:2:")
        snapshots.add("3:3:", takenBy: start + .seconds(100))
        #expect(snapshots.settled(at: start + .seconds(100)) == "2:2:")
    }

    @Test("Of frequent looks few snapshots are kept, and there is always one that is little more than a minute old")
    func frequent() throws {
        var snapshots = SettledSnapshots()
        let pause = Duration.milliseconds(15)
        for index in 0..<20_000 {
            let now = start + pause * index
            snapshots.add("\(index)", takenBy: now)
            #expect(snapshots.kept.count <= 63)
            guard pause * index >= .seconds(60) else { continue }
            let settled = try #require(snapshots.settled(at: now).flatMap { Int($0) })
            let age = pause * (index - settled)
            #expect(age >= .seconds(60) && age < .seconds(62))
        }
    }

    @Test("A connection that was lost begins anew")
    func lost() {
        var snapshots = SettledSnapshots()
        snapshots.add("1:1:", takenBy: start)
        snapshots.lostConnection()
        #expect(snapshots.settled(at: start + .seconds(600)) == nil)
        snapshots.add("2:2:", takenBy: start + .seconds(600))
        #expect(snapshots.settled(at: start + .seconds(660)) == "2:2:")
    }

    static let texts: [(String, UInt64?)] = [
        ("5:9:5,7", 5), ("18446744073709551615:18446744073709551615:", .max), ("", nil), ("x:9:", nil),
    ]

    @Test("The lowest number of a running transaction is read from a snapshot", arguments: texts)
    func xmin(_ snapshot: String, _ expected: UInt64?) {
        #expect(PostgresChangeLog.xmin(of: snapshot) == expected)
    }
}
