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
        health.apply(terms)
        #expect(health.view.isUnhealthy && !health.view.isAvailable(at: 10))
        terms.health = nil
        health.apply(terms)
        #expect(!health.view.isUnhealthy && !health.view.isAvailable(at: 10))
        terms.outlier = nil
        health.apply(terms)
        #expect(health.view.isAvailable(at: 10) && health.consecutiveFailures == 0)
    }

    @Test("Failures from before outlier was taken away, and while it was away, eject nothing when it is given back")
    func givenBack() {
        var terms = UpstreamTerms()
        terms.outlier = Self.outlier(2)
        var health = UpstreamHealth()
        health.apply(terms)
        _ = health.failed(terms.outlier, at: 1)
        // A reload that leaves it as it is keeps the count.
        health.apply(terms)
        #expect(health.consecutiveFailures == 1)
        terms.outlier = nil
        health.apply(terms)
        _ = health.failed(nil, at: 2)
        terms.outlier = Self.outlier(2)
        health.apply(terms)
        let isEjected = [health.failed(terms.outlier, at: 3), health.failed(terms.outlier, at: 4)]
        #expect(isEjected == [false, true])
    }
}
