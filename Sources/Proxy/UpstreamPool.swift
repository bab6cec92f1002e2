import EdgeCore
import NIOCore
import NIOPosix
import NIOSSL

/// The upstreams of one route on one event loop: their idle connections, which ones have failed, and which one is next.
///
/// Confined to its loop; connections never change loops.
package final class UpstreamPool {
    /// A weak reference to the pool, for a bootstrap that the pool itself keeps.
    struct WeakPool {
        weak var pool: UpstreamPool?
    }

    let loop: any EventLoop
    /// The flush queue of the loop.
    package let flushes: FlushQueue
    private let tls: NIOSSLContext?
    /// The name to verify instead of the one in a target's URL.
    private let serverName: String?
    private let connectTimeout: TimeAmount
    var members: [UpstreamMember]
    var turn = 0
    let terms: UpstreamTerms
    /// Kept ready, since every request asks.
    let isSupervised: Bool
    let makesChecks: Bool
    /// The most connections to one upstream on this loop; nil for no limit.
    let maxConnections: Int?
    var retries: RetryBudget?
    /// The connection whose channel was made last.
    private var made: UpstreamConnection?
    /// The socket of which a channel is being made.
    private var openedSocket: NIOBSDSocket.Handle?
    /// The path that goes before every forwarded path. The first member's is used for all.
    let basePath: [UInt8]
    /// The `Host` for requests that name none. The first member's is used for all.
    package let authority: String
    /// Makes the channel of a new connection, in tests; nil for a socket.
    private let dial: ((UpstreamTarget, (any Channel) throws -> Void) -> EventLoopFuture<any Channel>)?
    let watch: Watch?
    /// Whether the pool is no longer used for new requests: connections that come back are closed.
    private(set) var isRetired = false
    private var isReaping = false
    /// A connection that is idle for longer is closed. This is shorter than servers, balancers and address translators
    /// usually allow (60 s): one that they have dropped is only noticed when no answer comes.
    static let maxIdleTime = TimeAmount.seconds(30)
    private static let reapInterval = TimeAmount.seconds(5)
    /// How recently a connection must have been used for a request that can't be repeated: servers that close idle
    /// connections after a few seconds must not do so just as it arrives.
    static let maxRecentTime = TimeAmount.seconds(1)

    /// - Parameter targets: in the order of the configuration; their numbers are used everywhere else.
    /// - Parameter tls: nil only where no target uses TLS.
    package init(
        loop: any EventLoop, flushes: FlushQueue, targets: [UpstreamTarget], tls: NIOSSLContext?,
        serverName: String? = nil, connectTimeout: TimeAmount, supervision: Supervision = .init(),
        dial: ((UpstreamTarget, (any Channel) throws -> Void) -> EventLoopFuture<any Channel>)? = nil
    ) {
        self.dial = dial
        terms = supervision.terms
        isSupervised = supervision.terms.isSupervised
        makesChecks = supervision.makesChecks
        maxConnections = supervision.terms.maxConnections.map { max(1, $0 / max(1, supervision.loops)) }
        retries = supervision.terms.retry.map { RetryBudget($0) }
        watch = supervision.watch
        self.loop = loop
        self.flushes = flushes
        self.tls = tls
        self.serverName = serverName
        self.connectTimeout = connectTimeout
        let health = supervision.health
        self.members = targets.enumerated().map { index, target in
            UpstreamMember(
                target, health.indices.contains(index) ? health[index] : SharedUpstreamHealth(place: target.place))
        }
        self.basePath = targets.first?.basePath ?? []
        self.authority = targets.first?.authority ?? ""
    }

    /// Whether the route has no upstreams.
    package var isEmpty: Bool { members.isEmpty }

    /// Where the member with this number is.
    package func target(_ index: Int) -> UpstreamTarget { members[index].target }

    /// The place of the member with this number, as ``UpstreamTarget/place`` names it.
    package func place(_ index: Int) -> String { members[index].target.place }

    /// The number of the member at a place, as ``UpstreamTarget/place`` names it; nil if there is none.
    package func member(at place: String) -> Int? { members.firstIndex { $0.target.place == place } }

    /// Opens a new connection to the member. The connection counts as active until it is given back or discarded. Fails
    /// at once where the process is nearly out of descriptors.
    package func connect(_ index: Int) -> EventLoopFuture<UpstreamConnection> {
        // This is no fault of the member, so it is not backed off from.
        if dial == nil, DescriptorReserve.isReached(DescriptorReserve.ofUpstreams) {
            return loop.makeFailedFuture(IOError(errnoCode: EMFILE, reason: "connect"))
        }
        members[index].active += 1
        made = nil
        let pool = NIOLoopBound(self, eventLoop: loop)
        let connected = open(index).flatMapThrowing { channel in
            // For a name with several addresses a channel is made for each, and one of them is used.
            let made = pool.value.made.take()
            if let made, made.channel === channel { return made }
            return try channel.pipeline.syncOperations.handler(type: UpstreamConnection.self)
        }
        connected.assumeIsolated().whenComplete { result in
            switch result {
            case .success: self.succeeded(index)
            case .failure: self.failed(index)
            }
        }
        return connected
    }

    private func bootstrap(for index: Int) -> ClientBootstrap {
        if let known = members[index].bootstrap { return known }
        let pool = NIOLoopBound(WeakPool(pool: self), eventLoop: loop)
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(connectTimeout)
            .channelInitializer { channel in
                channel.eventLoop.completed {
                    guard let pool = pool.value.pool else { throw ChannelError.ioOnClosedChannel }
                    try pool.prepare(channel, index)
                }
            }
        members[index].bootstrap = bootstrap
        return bootstrap
    }

    private func prepare(_ channel: any Channel, _ index: Int) throws {
        let target = members[index].target
        if target.isTLS {
            guard let tls else { throw ChannelError.operationUnsupported }
            let handler = try NIOSSLClientHandler(context: tls, serverHostname: serverName ?? target.serverName)
            try channel.pipeline.syncOperations.addHandler(handler)
        }
        // A connection keeps its first buffer. It has the size of a usual answer and grows where that is too small.
        try channel.syncOptions?.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1024, maximum: 64 * 1024))
        let socket = openedSocket.take()
        if let socket { KeepAlive.turnOn(socket) } else { KeepAlive.turnOn(channel) }
        let connection = UpstreamConnection(
            channel: channel, pool: self, member: index, isTLS: target.isTLS, socket: socket)
        try channel.pipeline.syncOperations.addHandler(connection)
        made = connection
    }

    private func open(_ index: Int) -> EventLoopFuture<any Channel> {
        let target = members[index].target
        if let dial { return dial(target) { try prepare($0, index) } }
        let bootstrap = bootstrap(for: index)
        switch (target.socketAddress, target.address) {
        case (let address?, _):
            guard target.isLocal else { return bootstrap.connect(to: address) }
            switch LocalConnection.open(address) {
            case .connected(let socket):
                // The channel is prepared before this returns.
                openedSocket = socket
                defer { openedSocket = nil }
                return bootstrap.withConnectedSocket(socket)
            case .failed(let code): return loop.makeFailedFuture(IOError(errnoCode: code, reason: "connect"))
            case .undecided: return bootstrap.connect(to: address)
            }
        case (nil, .host(let host, let port)): return bootstrap.connect(host: host, port: port)
        case (nil, .unixSocket(let path)): return bootstrap.connect(unixDomainSocketPath: path)
        }
    }

    /// Takes a connection back after a complete and clean exchange. At most 256 idle connections are kept for each
    /// upstream, for 30 s.
    package func giveBack(_ connection: UpstreamConnection) {
        connection.idleSince = loop.now
        members[connection.member].leave(connection)
        if isRetired {
            members[connection.member].active -= 1
            return connection.close()
        }
        guard members[connection.member].giveBack(connection) else { return connection.close() }
        reapLater()
    }

    /// Schedules the next check of the idle connections, if there are any.
    private func reapLater() {
        guard !isReaping else { return }
        isReaping = true
        let pool = NIOLoopBound(WeakPool(pool: self), eventLoop: loop)
        loop.scheduleTask(in: Self.reapInterval) { pool.value.pool?.reap() }
    }

    private func reap() {
        isReaping = false
        let oldest = loop.now - Self.maxIdleTime
        var isAnyLeft = false
        for index in members.indices {
            let idle = members[index].idle
            let old = idle.prefix { $0.idleSince < oldest }
            members[index].idle.removeFirst(old.count)
            for connection in old { connection.close() }
            if idle.count > old.count { isAnyLeft = true }
        }
        if isAnyLeft { reapLater() }
    }

    /// Counts off a connection that will not be used again.
    func discard(_ connection: UpstreamConnection) {
        members[connection.member].leave(connection)
        members[connection.member].active -= 1
        connection.close()
    }

    /// An idle connection was closed by the upstream.
    func forget(_ connection: UpstreamConnection) {
        members[connection.member].idle.removeAll { $0 === connection }
    }

    /// Closes the idle connections, and from now on those that are given back: the pool's route is no longer used.
    package func retire() {
        isRetired = true
        for index in members.indices {
            let idle = members[index].idle
            members[index].idle = []
            for connection in idle { connection.close() }
        }
    }

    private func succeeded(_ index: Int) {
        members[index].failures = 0
        members[index].health.connected(true)
        reportUp(index)
    }

    /// A connection attempt failed: no request is sent there for a while, longer each time, at most 30 s.
    private func failed(_ index: Int) {
        members[index].active -= 1
        members[index].health.connected(false)
        reportUp(index)
        members[index].failures = min(members[index].failures + 1, 8)
        let pause = min(Int64(30_000), 250 << Int64(members[index].failures))
        members[index].backOffUntil = loop.now + .milliseconds(pause)
    }
}
