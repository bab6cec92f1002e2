import NIOCore
import NIOPosix
import NIOSSL

/// The upstreams of one route on one event loop: idle connections, who is well, whose turn it is.
///
/// Confined to its loop; connections never change loops.
final class UpstreamPool {
    private struct Member {
        let target: UpstreamTarget
        var idle: [UpstreamConnection] = []
        var active = 0
        var failures = 0
        var restsUntil = NIODeadline.uptimeNanoseconds(0)
    }

    private let loop: any EventLoop
    let flushes: FlushQueue
    private let tls: NIOSSLContext?
    /// The name to verify instead of the one in a target's URL.
    private let serverName: String?
    private let connectTimeout: TimeAmount
    private var members: [Member]
    private var turn = 0
    /// What goes before every path, and the name of the upstream: those of the member named first hold for all.
    let basePath: [UInt8]
    let authority: String
    private static let maxIdlePerTarget = 256
    /// Unused for longer, a connection is closed when the next one comes back: fewer are found closed by the upstream.
    private static let maxIdleTime = TimeAmount.seconds(60)

    init(
        loop: any EventLoop, flushes: FlushQueue, targets: [UpstreamTarget], tls: NIOSSLContext?,
        serverName: String? = nil, connectTimeout: TimeAmount
    ) {
        self.loop = loop
        self.flushes = flushes
        self.tls = tls
        self.serverName = serverName
        self.connectTimeout = connectTimeout
        self.members = targets.map { Member(target: $0) }
        self.basePath = targets.first?.basePath ?? []
        self.authority = targets.first?.authority ?? ""
    }

    var isEmpty: Bool { members.isEmpty }

    /// Which member to ask next: the one with the fewest requests under way, in turn among equals; members that failed
    /// rest for a while, unless all do. `excluding` holds those that were tried for this request.
    func choose(excluding tried: Set<Int>) -> Int? {
        if members.count == 1 { return tried.isEmpty ? 0 : nil }
        let now = NIODeadline.now()
        var best: Int?
        for step in members.indices {
            let index = (turn + step) % members.count
            if tried.contains(index) { continue }
            guard let chosen = best else {
                best = index
                continue
            }
            let (mine, theirs) = (load(index, now), load(chosen, now))
            if mine < theirs { best = index }
        }
        if let best { turn = (best + 1) % members.count }
        return best
    }

    /// Lower is better: whoever rests comes behind everybody who does not.
    private func load(_ index: Int, _ now: NIODeadline) -> (rests: Int, active: Int) {
        (members[index].restsUntil > now ? 1 : 0, members[index].active)
    }

    func target(_ index: Int) -> UpstreamTarget { members[index].target }

    /// An idle connection to the member, if there is one that is still open.
    func takeIdle(_ index: Int) -> UpstreamConnection? {
        while let connection = members[index].idle.popLast() {
            if connection.isUsable {
                members[index].active += 1
                return connection
            }
        }
        return nil
    }

    /// Opens a new connection to the member.
    func connect(_ index: Int) -> EventLoopFuture<UpstreamConnection> {
        members[index].active += 1
        let target = members[index].target
        let tls = target.isTLS ? self.tls : nil
        let serverName = self.serverName ?? target.serverName
        let pool = NIOLoopBound(self, eventLoop: loop)
        let made = NIOLoopBoundBox<UpstreamConnection?>(nil, eventLoop: loop)
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(connectTimeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if target.isTLS {
                        guard let tls else { throw ChannelError.operationUnsupported }
                        let handler = try NIOSSLClientHandler(context: tls, serverHostname: serverName)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    // Where the connection is no TCP connection there is nothing to keep alive.
                    try? channel.syncOptions?.setOption(.socketOption(.so_keepalive), value: 1)
                    let connection = UpstreamConnection(
                        channel: channel, pool: pool.value, member: index, isTLS: target.isTLS)
                    try channel.pipeline.syncOperations.addHandler(connection)
                    made.value = connection
                }
            }
        let opened: EventLoopFuture<any Channel>
        switch (target.socketAddress, target.address) {
        case (let address?, _): opened = bootstrap.connect(to: address)
        case (nil, .host(let host, let port)): opened = bootstrap.connect(host: host, port: port)
        case (nil, .unixSocket(let path)): opened = bootstrap.connect(unixDomainSocketPath: path)
        }
        let connected = opened.flatMapThrowing { channel in
            // A name with several addresses makes a channel for each, of which one wins.
            if let connection = made.value, connection.channel === channel { return connection }
            return try channel.pipeline.syncOperations.handler(type: UpstreamConnection.self)
        }
        connected.assumeIsolated().whenComplete { result in
            switch result {
            case .success: self.members[index].failures = 0
            case .failure: self.failed(index)
            }
        }
        return connected
    }

    /// Back after a complete and clean exchange.
    func giveBack(_ connection: UpstreamConnection) {
        members[connection.member].active -= 1
        guard connection.isUsable, members[connection.member].idle.count < Self.maxIdlePerTarget else {
            return connection.close()
        }
        connection.idleSince = .now()
        members[connection.member].idle.append(connection)
        if let oldest = members[connection.member].idle.first,
            oldest.idleSince + Self.maxIdleTime < connection.idleSince
        {
            members[connection.member].idle.removeFirst()
            oldest.close()
        }
    }

    /// Not to be used again.
    func discard(_ connection: UpstreamConnection) {
        members[connection.member].active -= 1
        connection.close()
    }

    /// An idle connection was closed by the upstream.
    func forget(_ connection: UpstreamConnection) {
        members[connection.member].idle.removeAll { $0 === connection }
    }

    /// A connection attempt failed: the member rests, longer each time, at most 30 s.
    private func failed(_ index: Int) {
        members[index].active -= 1
        members[index].failures = min(members[index].failures + 1, 8)
        let pause = min(Int64(30_000), 250 << Int64(members[index].failures))
        members[index].restsUntil = .now() + .milliseconds(pause)
    }
}

/// The pools of one event loop, one per route and one for the external Runtime.
final class UpstreamPools {
    private let pools: [UpstreamPool]
    let runtime: UpstreamPool?

    init(pools: [UpstreamPool], runtime: UpstreamPool?) {
        self.pools = pools
        self.runtime = runtime
    }

    func pool(for route: Route) -> UpstreamPool? {
        pools.indices.contains(route.index) ? pools[route.index] : nil
    }
}
