import AdminAPI
import EdgeConfiguration
import EdgeCore
import Gate
import Leases
import NIOCore
import Proxy
import SecurityGuard
import Sockets
import StateSurface

/// Asks the event loops of this node what they hold, for its operator. Used by the operator's API, off the event loops.
/// Each question is a job on every loop, so none of them sees a loop in the middle of a change.
package struct NodeObserver: NodeView {
    private let loops: LoopStateRegistry
    private let services: @Sendable () -> EdgeServices
    private let feed: any ChangeFeed
    private let storeKind: String
    private let isDraining: @Sendable () -> Bool

    /// - Parameters:
    ///   - services: what every connection shares, according to the configuration as it is now.
    ///   - isDraining: whether the gateway is stopping.
    ///   - loops: the states of all loops.
    ///   - feed: the store's change feed, by whose beats the store's health is told.
    ///   - storeKind: `sqlite` or `postgres`.
    package init(
        loops: LoopStateRegistry, services: @escaping @Sendable () -> EdgeServices, feed: any ChangeFeed,
        storeKind: String,
        isDraining: @escaping @Sendable () -> Bool
    ) {
        self.loops = loops
        self.services = services
        self.feed = feed
        self.storeKind = storeKind
        self.isDraining = isDraining
    }

    /// Asks every loop, one after the other, so that no two of them stand still at once.
    private func each<Value: Sendable>(_ body: @escaping @Sendable (LoopState) -> Value) async -> [Value] {
        var values: [Value] = []
        for bound in loops.all {
            if let value = try? await bound.eventLoop.submit({ body(bound.value) }).get() { values.append(value) }
        }
        return values
    }

    /// Each loop gives at most `limit`; of all of these the first `limit` by id are returned.
    package func connections(after id: String?, limit: Int) async -> [OpenConnection] {
        let found = await each { $0.openConnections(after: id, limit: limit) }
        return Array(found.flatMap(\.self).sorted { $0.id < $1.id }.prefix(limit))
    }

    /// Runs on the connection's own loop. Returns before the peer has closed; see ``settled()``.
    package func end(connection id: String) async -> Bool {
        await each { loop in
            let found = loop.connections.values.first { $0.requestID.text == id }
            guard let lasting = found?.lasting else { return false }
            lasting.exchange.endedByOperator()
            return true
        }.contains(true)
    }

    /// From the limiter of sockets, which all loops share.
    package func sockets(of sessionIDs: [String]) -> [String: Int] { services().socketLimiter.sockets(of: sessionIDs) }

    /// At most ``RefusalRing/capacity`` of each loop.
    package func refusals() async -> [RefusalEntry] {
        await each(\.refusals.all).flatMap(\.self).sorted { ($0.time, $0.requestID) > ($1.time, $1.requestID) }
    }

    /// One entry for each upstream of a route. It is up where all loops find it so.
    package func upstreams() async -> [UpstreamEntry] {
        let now = services().clock()
        var entries: [UpstreamEntry] = []
        for found in await each({ $0.upstreams(now: now) }).flatMap(\.self) {
            // Each loop has connections of its own: requests are added up, and of the loops' other findings the worst
            // counts.
            let place = entries.firstIndex { $0.route == found.route && $0.upstream == found.upstream }
            guard let place else {
                entries.append(found)
                continue
            }
            entries[place].isUp = entries[place].isUp && found.isUp
            entries[place].requestsInFlight += found.requestsInFlight
            entries[place].consecutiveFailures = max(entries[place].consecutiveFailures, found.consecutiveFailures)
            if let until = found.ejectedUntil {
                entries[place].ejectedUntil = max(entries[place].ejectedUntil ?? until, until)
            }
        }
        return entries
    }

    /// Sockets are counted when they open; leases are of streams as well.
    package func counts() async -> (sockets: Int, leases: Int) {
        let sums = await each { (sockets: $0.socketCount, leases: $0.leases.count) }
        return (sums.reduce(0) { $0 + $1.sockets }, sums.reduce(0) { $0 + $1.leases })
    }

    /// Waits for the jobs that every loop was given until now, for example to end sockets.
    package func settled() async { await loops.settled() }

    private var health: StoreHealth {
        let services = services()
        return StoreWatch.health(of: feed, services.securityGuard, grace: services.configuration.state.grace)
    }

    /// Costs no request to the store.
    package func store() -> StoreEntry {
        StoreEntry(kind: storeKind, isReachable: health == .current, feedAge: feed.sinceLastBeat() / .seconds(1))
    }

    /// What `/readyz` says.
    package func isReady() -> Bool { !isDraining() && health == .current }
}

extension LoopState {
    /// The sockets and streams of this loop in the order of their ids, beginning after one, at most `limit`.
    fileprivate func openConnections(after id: String?, limit: Int) -> [OpenConnection] {
        var after: UInt64?
        if let id {
            after = RequestID.count(in: id, prefix: requestPrefix)
            // An id of another loop: all of this loop's ids come before it, or all come after it.
            if after == nil, requestPrefix < id { return [] }
        }
        let numbered = connections.values.filter { connection in
            after.map { connection.requestID.count > $0 } ?? true && connection.lasting != nil
        }
        return numbered.sorted { $0.requestID.count < $1.requestID.count }.prefix(limit).compactMap(\.openConnection)
    }

    /// The upstreams of this loop.
    fileprivate func upstreams(now: Int64) -> [UpstreamEntry] {
        guard let snapshot else { return [] }
        let pools = zip(snapshot.services.configuration.routes.map(\.path), snapshot.upstreams.all)
        let all = pools.map { ($0, $1) } + (snapshot.upstreams.runtime.map { [("api", $0)] } ?? [])
        return all.flatMap { route, pool in
            pool.memberStates.map { member in
                UpstreamEntry(
                    route: route, upstream: member.place, isUp: member.isUp,
                    ejectedUntil: member.unusedFor > .zero ? now &+ member.unusedFor.nanoseconds / 1_000_000 : nil,
                    requestsInFlight: member.active, consecutiveFailures: member.failures)
            }
        }
    }
}
