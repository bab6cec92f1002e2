import EdgeConfiguration
import NIOCore
import Testing

@testable import Proxy

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
