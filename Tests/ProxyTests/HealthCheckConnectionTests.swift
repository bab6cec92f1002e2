import EdgeConfiguration
import NIOCore
import NIOEmbedded
import Testing

@testable import EdgeCore
@testable import Proxy

/// What checks leave to requests.
@Suite struct HealthCheckConnectionTests {
    private static func pool(
        _ loop: EmbeddedEventLoop, _ watch: UpstreamPool.Watch?, _ attempt: EventLoopFuture<any Channel>
    ) throws -> UpstreamPool {
        var supervision = UpstreamPool.Supervision()
        supervision.terms.health = .init()
        supervision.makesChecks = true
        supervision.watch = watch
        return UpstreamPool(
            loop: loop, flushes: FlushQueue(loop: loop), targets: [try #require(UpstreamTarget("http://127.0.0.1:1"))],
            tls: nil, connectTimeout: .seconds(5), supervision: supervision, dial: { _, _ in attempt })
    }

    @Test("A check that gives up before its connection is made or fails takes no request's place meanwhile")
    func unmade() throws {
        let loop = EmbeddedEventLoop()
        let attempt = loop.makePromise(of: (any Channel).self)
        let pool = try Self.pool(loop, nil, attempt.futureResult)
        pool.startChecks()
        #expect(pool.members[0].active == 1 && pool.members[0].busy == 0)
        // Behind the time limit of the check, before the next one.
        loop.advanceTime(by: .seconds(3))
        #expect(pool.members[0].active == 1 && pool.members[0].busy == 0)
        attempt.fail(ChannelError.connectTimeout(.seconds(5)))
        #expect(pool.members[0].active == 0 && pool.members[0].checking == 0)
        pool.retire()
    }

    @Test("A pool that is no longer used says nothing of its upstreams")
    func retired() throws {
        final class Heard { var places: [String] = [] }
        let heard = Heard()
        let watch = UpstreamPool.Watch(upReporter: { place in { _ in heard.places.append(place) } }, ejected: { _ in })
        for isRetired in [false, true] {
            let loop = EmbeddedEventLoop()
            let attempt = loop.makePromise(of: (any Channel).self)
            let pool = try Self.pool(loop, watch, attempt.futureResult)
            pool.startChecks()
            if isRetired { pool.retire() }
            heard.places = []
            attempt.fail(ChannelError.connectTimeout(.seconds(5)))
            #expect(heard.places.isEmpty == isRetired)
            pool.retire()
        }
    }
}
