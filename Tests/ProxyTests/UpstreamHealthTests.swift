import EdgeConfiguration
import NIOCore
import Testing

@testable import Proxy

@Suite("What is known of an upstream") struct UpstreamHealthTests {
    private static func outlier(
        _ failures: Int, eject: Int64 = 1_000, most: Int64 = 2_500
    ) -> RouteConfiguration.Outlier {
        var terms = RouteConfiguration.Outlier()
        terms.failures = failures
        terms.eject = eject
        terms.maxEject = most
        return terms
    }

    @Test("Failures in a row eject, for longer each time up to the most; a success in between starts anew")
    func ejection() {
        let terms = Self.outlier(3)
        var health = UpstreamHealth()
        let first = [health.failed(terms, at: 1), health.failed(terms, at: 2)]
        #expect(first == [false, false])
        health.succeeded(terms, at: 3)
        let second = [health.failed(terms, at: 4), health.failed(terms, at: 5), health.failed(terms, at: 6)]
        #expect(second == [false, false, true])
        #expect(!health.view.isAvailable(at: 1_005) && health.view.isAvailable(at: 1_006))
        // Requests that were under way when it was ejected make it no longer.
        let late = health.failed(terms, at: 500)
        #expect(!late && health.view.isAvailable(at: 1_006))
        // It is back, and fails again at once.
        var again = health.failed(terms, at: 2_000)
        #expect(again && !health.view.isAvailable(at: 3_999) && health.view.isAvailable(at: 4_000))
        again = health.failed(terms, at: 5_000)
        #expect(again && health.view.isAvailable(at: 7_500), "no longer than the most")
    }

    @Test("What it did is forgotten once it has served for as long as it was left alone")
    func forgetting() {
        let terms = Self.outlier(1)
        var health = UpstreamHealth()
        _ = health.failed(terms, at: 0)
        health.succeeded(terms, at: 1_500)
        #expect(health.ejections == 1 && !health.isPristine)
        health.succeeded(terms, at: 2_000)
        #expect(health.ejections == 0 && health.isPristine)
        _ = health.failed(terms, at: 3_000)
        #expect(health.view.isAvailable(at: 4_000), "as the first time")
    }

    @Test("Without terms nothing is ejected, but failures are counted")
    func noTerms() {
        var health = UpstreamHealth()
        for time in 0..<100 {
            let isEjected = health.failed(nil, at: Int64(time))
            #expect(!isEjected)
        }
        #expect(health.consecutiveFailures == 100 && health.view.isAvailable(at: 100))
    }

    @Test("Checks change the verdict only after so many in a row")
    func checks() {
        var terms = RouteConfiguration.Health()
        terms.unhealthyAfter = 3
        terms.healthyAfter = 2
        var health = UpstreamHealth()
        func check(_ passed: Bool, _ now: Int64) -> Bool { health.checked(passed, terms, at: now) }
        let beforeFall = [check(false, 1), check(false, 2), check(true, 3), check(false, 4), check(false, 5)]
        #expect(beforeFall == [false, false, false, false, false] && health.view.isAvailable(at: 5))
        let fall = check(false, 6)
        #expect(fall && !health.view.isAvailable(at: 6))
        let beforeRise = [check(true, 7), check(false, 8), check(true, 9)]
        #expect(beforeRise == [false, false, false] && !health.view.isAvailable(at: 9))
        let rise = check(true, 10)
        #expect(rise && health.view.isAvailable(at: 10) && health.view.recoveredAt == 10)
    }

    @Test(
        "After a pause the share grows from a tenth to the whole",
        arguments: [(1_000, 0.1), (1_100, 0.1), (1_500, 0.5), (1_900, 0.9), (2_000, 1.0), (9_000, 1.0)]
            as [(Int64, Double)])
    func slowStart(_ now: Int64, _ weight: Double) {
        var health = UpstreamHealth()
        _ = health.failed(Self.outlier(1), at: 0)
        #expect(abs(health.view.weight(at: now, slowStart: 1_000) - weight) < 0.001)
        #expect(health.view.weight(at: now, slowStart: 0) == 1)
        #expect(UpstreamHealth().view.weight(at: now, slowStart: 1_000) == 1, "one that was never away")
    }

    @Test("A reload keeps what is known, but for what no key asks for any more")
    func reload() {
        var terms = UpstreamTerms()
        terms.outlier = Self.outlier(1)
        terms.health = .init()
        var health = UpstreamHealth()
        _ = health.failed(terms.outlier, at: 0)
        for time in 0..<3 { _ = health.checked(false, .init(), at: Int64(time)) }
        health.obey(terms)
        #expect(health.view.isUnhealthy && !health.view.isAvailable(at: 10))
        terms.health = nil
        health.obey(terms)
        #expect(!health.view.isUnhealthy && !health.view.isAvailable(at: 10))
        terms.outlier = nil
        health.obey(terms)
        #expect(health.view.isAvailable(at: 10) && health.consecutiveFailures == 1)
    }
}

@Suite("Which upstream is asked") struct UpstreamChoiceTests {
    private static func candidate(
        _ change: (inout UpstreamChoice.Candidate) -> Void = { _ in }
    ) -> UpstreamChoice.Candidate {
        var candidate = UpstreamChoice.Candidate()
        change(&candidate)
        return candidate
    }

    private static let good = candidate()
    private static let away = candidate { $0.isAvailable = false }
    private static let full = candidate { $0.isFull = true }
    private static let busy = candidate { $0.active = 5 }
    private static let rests = candidate { $0.rests = true }

    static let cases: [([UpstreamChoice.Candidate], Set<Int>, UpstreamChoice.Pick)] = [
        ([], [], .none),
        ([good], [0], .none),
        ([busy, good], [], .member(1)),
        ([away, busy], [], .member(1)),
        ([rests, busy], [], .member(1)),
        ([full, busy], [], .member(1)),
        // All are away: any is better than a refusal.
        ([away, away], [], .member(0)),
        ([away], [], .member(0)),
        // The only one that is there was tried.
        ([good, away], [0], .member(1)),
        // One that has enough to do is not relieved by one that fails.
        ([full, away], [], .full),
        ([full, full], [], .full),
        ([full, good], [1], .full),
    ]

    @Test("The freest of those that are available; never none because all were ejected", arguments: cases)
    func picks(_ given: ([UpstreamChoice.Candidate], Set<Int>, UpstreamChoice.Pick)) {
        let pick = UpstreamChoice(panic: 0).pick(given.0, excluding: given.1, turn: 0) { 0.99 }
        #expect(pick == given.2)
    }

    @Test("Where fewer than the panic share are available, all are used", arguments: [(0.4, 1), (0.6, 2)])
    func panic(_ share: Double, _ used: Int) {
        let candidates = [Self.away, Self.good]
        let picked = (0..<2).map { UpstreamChoice(panic: share).pick(candidates, excluding: [], turn: $0) { 0 } }
        #expect(Set(picked.map { "\($0)" }).count == used)
    }

    @Test("Equals take turns")
    func turns() {
        let picks = (0..<6).map {
            UpstreamChoice(panic: 0).pick([Self.good, Self.good, Self.good], excluding: [], turn: $0 % 3) { 0 }
        }
        #expect(picks == [0, 1, 2, 0, 1, 2].map { .member($0) })
    }

    @Test("One that is just back gets its share, and all where there is no other")
    func slowStart() {
        let new = Self.candidate { $0.weight = 0.25 }
        let choice = UpstreamChoice(panic: 0)
        // With turn 1 it would be next.
        #expect(choice.pick([Self.good, new], excluding: [], turn: 1) { 0.24 } == .member(1))
        #expect(choice.pick([Self.good, new], excluding: [], turn: 1) { 0.26 } == .member(0))
        #expect(choice.pick([new], excluding: [], turn: 0) { 0.99 } == .member(0))
    }
}

@Suite("How many requests are repeated") struct RetryBudgetTests {
    @Test("A share of the requests, and so many a second besides")
    func budget() {
        var terms = RouteConfiguration.Retry()
        terms.budget = 0.25
        terms.floor = 2
        var budget = RetryBudget(terms)
        for _ in 0..<40 { budget.requested() }
        let first = (0..<20).filter { _ in budget.take(at: 500) }.count
        #expect(first == 12, "10 of 40, and 2")
        let sameSecond = budget.take(at: 999)
        let nextSecond = (0..<5).filter { _ in budget.take(at: 1_000) }.count
        #expect(!sameSecond && nextSecond == 2)
    }

    @Test("Quiet times save up only so much")
    func bound() {
        var terms = RouteConfiguration.Retry()
        terms.budget = 1
        terms.floor = 0
        var budget = RetryBudget(terms)
        for _ in 0..<10_000 { budget.requested() }
        #expect((0..<1_000).filter { _ in budget.take(at: 0) }.count == 100)
    }
}

@Suite("What all event loops know of an upstream") struct UpstreamStandingTests {
    @Test("No more than the limit enter at once, from whatever thread")
    func concurrency() async {
        let standing = UpstreamStanding(place: "h:1")
        let entered = await withTaskGroup(of: Int.self) { tasks in
            for _ in 0..<8 { tasks.addTask { (0..<1_000).filter { _ in standing.enter(50) }.count } }
            return await tasks.reduce(0, +)
        }
        #expect(entered == 50 && standing.isFull(50))
        standing.leave()
        #expect(!standing.isFull(50) && standing.enter(50) && !standing.enter(50))
    }

    @Test("A reload keeps the upstreams that stay, by route and place")
    func registry() {
        let standings = UpstreamStandings()
        var (a, b) = (RouteConfiguration(path: "/a"), RouteConfiguration(path: "/b"))
        a.outlier = .init()
        a.outlier?.failures = 1
        b.outlier = a.outlier
        standings.adopt([(a, ["h:1", "h:2"]), (b, ["h:1"])])
        let kept = standings.standing(of: a, "h:1")
        #expect(kept.failed() && kept.failures(at: UpstreamStanding.now()).ejectedUntil != nil)
        #expect(standings.standing(of: b, "h:1") !== kept)
        standings.adopt([(a, ["h:1"])])
        #expect(standings.standing(of: a, "h:1") === kept)
        #expect(!kept.view.isAvailable(at: UpstreamStanding.now()))
        standings.adopt([])
        #expect(standings.standing(of: a, "h:1") !== kept)
    }
}

@Suite("The status of a check's answer") struct HealthProbeTests {
    @Test(
        "Only a whole status line counts",
        arguments: [
            ("HTTP/1.1 200 OK\r\n", 200), ("HTTP/1.0 503\r\n", 503), ("HTTP/1.1 204 \r\nA: b", 204),
            ("HTTP/1.1 200 OK", nil), ("", nil), ("HTTP/2 200 OK\r\n", 0), ("220 smtp\r\n", 0),
            ("HTTP/1.1 2000 OK\r\n", 0), ("HTTP/1.1 2x0 OK\r\n", 0), ("\n", 0),
        ] as [(String, Int?)])
    func status(_ text: String, _ status: Int?) {
        #expect(HealthProbe.status(in: .init(string: text)) == status)
    }

    @Test(
        "Interim answers are skipped, wherever the bytes are cut",
        arguments: [
            ("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n", 204),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 503 No\r\n", 503),
            ("HTTP/1.1 101 Switching Protocols\r\n", 101), ("HTTP/1.1 100 Continue\r\n\r\nnothing\r\n", 0),
        ])
    func interim(_ text: String, _ status: Int) {
        #expect(HealthProbe.status(in: .init(string: text)) == status)
        for count in 0..<text.utf8.count {
            #expect(HealthProbe.status(in: .init(bytes: text.utf8.prefix(count))) == nil, "\(count)")
        }
    }
}
