import EdgeConfiguration
import NIOCore
import Testing

@testable import Proxy

@Suite("What all event loops know of an upstream") struct SharedUpstreamHealthTests {
    @Test("No more than the limit enter at once, from whatever thread")
    func concurrency() async {
        let health = SharedUpstreamHealth(place: "h:1")
        let entered = await withTaskGroup(of: Int.self) { tasks in
            for _ in 0..<8 { tasks.addTask { (0..<1_000).filter { _ in health.enter(50) }.count } }
            return await tasks.reduce(0, +)
        }
        #expect(entered == 50 && health.isFull(50))
        health.leave()
        #expect(!health.isFull(50) && health.enter(50) && !health.enter(50))
    }

    @Test("A reload keeps the upstreams that stay, by route and place")
    func registry() {
        let registry = UpstreamHealthRegistry()
        var (a, b) = (RouteConfiguration(path: "/a"), RouteConfiguration(path: "/b"))
        a.outlier = .init()
        a.outlier?.failures = 1
        b.outlier = a.outlier
        registry.adopt([(a, ["h:1", "h:2"]), (b, ["h:1"])])
        let kept = registry.health(of: a, "h:1")
        #expect(kept.failed() && kept.failures(at: SharedUpstreamHealth.now()).ejectedUntil != nil)
        #expect(registry.health(of: b, "h:1") !== kept)
        registry.adopt([(a, ["h:1"])])
        #expect(registry.health(of: a, "h:1") === kept)
        #expect(!kept.view.isAvailable(at: SharedUpstreamHealth.now()))
        registry.adopt([])
        #expect(registry.health(of: a, "h:1") !== kept)
    }
}
