import Testing

@testable import session_bench

@Suite("What session-bench is given") struct SessionBenchTests {
    @Test("A good command line is read")
    func good() {
        #expect(
            BenchCommand(["write", "sqlite:a", "256", "64", "3"])
                == .write(url: "sqlite:a", group: 256, callers: 64, seconds: 3))
        #expect(
            BenchCommand(["change", "sqlite:a", "64", "3"]) == .change(url: "sqlite:a", callers: 64, seconds: 3))
        #expect(BenchCommand(["fill", "sqlite:a", "1000000"]) == .fill(url: "sqlite:a", count: 1_000_000))
        #expect(BenchCommand(["lookup", "sqlite:a", "1"]) == .lookup(url: "sqlite:a", count: 1))
        #expect(BenchCommand(["memory-table", "slots", "7"]) == .memoryTable(.slots, count: 7))
    }

    @Test(
        "Any other is refused: none reaches a division, a range or a conversion that it could trap",
        arguments: [
            [], ["write"], ["fill", "sqlite:a"], ["fill", "sqlite:a", "0"], ["fill", "sqlite:a", "-1"],
            ["lookup", "sqlite:a", "0"], ["lookup", "sqlite:a", "-5"], ["lookup", "sqlite:a", "x"],
            ["lookup", "sqlite:a", "9223372036854775807"], ["lookup", "sqlite:a", "9223372036854775808"],
            ["lookup", "sqlite:a", "1", "2"], ["write", "sqlite:a", "1", "1"], ["write", "sqlite:a", "0", "1", "1"],
            ["write", "sqlite:a", "1", "0", "1"], ["write", "sqlite:a", "1", "-1", "1"],
            ["write", "sqlite:a", "1", "20000", "1"], ["write", "sqlite:a", "1", "1", "100000"],
            ["write", "sqlite:a", "x", "1", "1", "1"], ["drop", "sqlite:a", "1"],
            ["change", "sqlite:a", "1"], ["change", "sqlite:a", "0", "1"], ["change", "sqlite:a", "20000", "1"],
            ["memory-table", "heap", "1"], ["memory-table", "dictionary", "0"], ["memory-table", "slots"],
        ])
    func refused(_ arguments: [String]) {
        #expect(BenchCommand(arguments) == nil)
    }

    @Test("Every number names a session and a user, each its own")
    func names() {
        let numbers = [0, 1, -1, 255, 256, 1 << 62, .max, .min]
        for number in numbers {
            let session = BenchNames.session(number)
            #expect(session.hasPrefix("ses_") && session.utf8.count == 26)
            #expect(session == BenchNames.session(number))
            #expect(BenchNames.user(number).hasPrefix("usr_"))
        }
        #expect(Set(numbers.map(BenchNames.session)).count == numbers.count)
    }

    @Test(
        "No measurement is too short or too large to be printed",
        arguments: [
            (0.0, 0), (1.9, 1), (-1.5, -2), (.infinity, 0), (-.infinity, 0), (.nan, 0), (1e300, .max), (-1e300, .min),
        ] as [(Double, Int)])
    func figures(value: Double, expected: Int) {
        #expect(BenchFigure.whole(value) == expected)
    }

    @Test("A rate over no time at all is none")
    func rates() {
        #expect(BenchFigure.perSecond(10, in: .zero) == 0)
        #expect(BenchFigure.perSecond(0, in: .zero) == 0)
        #expect(BenchFigure.perSecond(10, in: .seconds(2)) == 5)
        #expect(BenchFigure.perSecond(.max, in: .nanoseconds(1)) == .max)
    }
}
