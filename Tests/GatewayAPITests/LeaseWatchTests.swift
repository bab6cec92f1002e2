import BasicsForTests
import LeasesForTests
import Metrics
import NIOCore
import NIOPosix
import Runtime
import SecurityGuard
import Synchronization
import Testing

@testable import Edge
@testable import EdgeCore
@testable import Gate
@testable import Leases
@testable import Proxy

/// Leases whose session may have ended while they were being taken: the store is asked until it answers.
@Suite struct LeaseWatchTests {
    private struct Busy: Error {}

    /// How many questions the store still refuses, and how many it was asked.
    private final class Faults: Sendable {
        let left = Mutex(0)
        let asked = Mutex(0)

        func next() throws {
            asked.withLock { $0 += 1 }
            let isBusy = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if isBusy { throw Busy() }
        }
    }

    private final class Holder: LeaseHolder {
        private(set) var end: LeaseEnd?
        func leaseEnded(_ end: LeaseEnd) { self.end = end }
    }

    @Test("A question that the store is too busy for is asked again, and ends what is over", arguments: [0, 1, 3])
    func busyStore(faults count: Int) async throws {
        let faults = Faults()
        let fixture = try await APIFixture(
            wrap: { SteppedEngine(inner: $0, gate: StepGate(), fault: { _ in try faults.next() }) })
        let (live, over) = (try await fixture.sessionID(), try await fixture.sessionID(ended: true))
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let loops = LoopStateRegistry()
        let watch = LeaseWatch(
            loops: loops, held: HeldSessions(), heldAccounts: HeldSessions(), profiles: fixture.guarding.profiles,
            runtime: fixture.runtime, state: fixture.state,
            clock: fixture.clock.read,
            skew: 0)
        let holders = try await loop.submit {
            let leases = LeaseTable(
                now: fixture.clock.read(),
                authority: LeaseAuthorityModel { terms in
                    watch.verify(terms)
                    return nil
                })
            let state = LoopState(
                loop: loop, leases: leases, flushes: FlushQueue(loop: loop),
                metrics: EdgeMetrics(NOOPMetricsHandler.instance), now: fixture.clock.read)
            loops.add(NIOLoopBound(state, eventLoop: loop))
            faults.left.withLock { $0 = count }
            let holders = [over, live].map { id in
                var terms = LeaseTerms()
                terms.sessionID = id
                let holder = Holder()
                _ = state.leases.insert(terms, holder: holder)
                return holder
            }
            return NIOLoopBound(holders, eventLoop: loop)
        }.get()
        var ends: [LeaseEnd?] = []
        let hasEnded = try await eventually {
            ends = try await loop.submit { holders.value.map(\.end) }.get()
            return ends.first != .some(nil)
        }
        #expect(hasEnded && ends == [.sessionEnded, nil])
        #expect(faults.asked.withLock { $0 } >= count + 1)
        try await group.shutdownGracefully()
    }
}

extension APIFixture {
    /// A guest's session, live or over.
    fileprivate func sessionID(ended: Bool = false) async throws -> String {
        let made = try await anonymous()
        if ended {
            let answer = try await send("DELETE", "/api/session/\(made.sessionID)", Ask(secret: made.secret))
            #expect(answer.status == 204)
        }
        return made.sessionID
    }
}
