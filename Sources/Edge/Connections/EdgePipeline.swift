import EdgeConfiguration
import EdgeCore
import HTTPWire
import Metrics
import NIOCore
import NIOHTTP2
import NIOSSL
import NIOTLS
import Synchronization

/// Makes the pipeline of a new connection: plain, TLS with HTTP/1.1, or TLS with HTTP/2 whose streams are each treated
/// as a connection of their own. Kept in a ``PipelineBox``, where a reload puts another one; connections that are open
/// stay as they were made.
package struct EdgePipeline: Sendable {
    /// What every connection shares.
    package let services: EdgeServices
    /// The state of each event loop.
    package let loops: [ObjectIdentifier: NIOLoopBound<LoopState>]
    /// Certificates and keys; nil without TLS.
    package let tls: ServerTLS?

    /// - Parameter loops: every loop that accepts connections.
    package init(services: EdgeServices, loops: [ObjectIdentifier: NIOLoopBound<LoopState>], tls: ServerTLS?) {
        self.services = services
        self.loops = loops
        self.tls = tls
    }

    /// Sets up a connection that was just accepted. Called on its loop.
    ///
    /// - Returns: A failed future where it is to be closed at once: over `server.max_connections`, without descriptors
    ///   left, or from a peer that may not send the header of the PROXY protocol.
    package func connect(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard let state = loops[ObjectIdentifier(channel.eventLoop)] else {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        let metrics = services.metrics
        metrics.connections.increment()
        let open = metrics.openConnections.add(1, ordering: .relaxed).newValue
        channel.closeFuture.whenComplete { _ in metrics.openConnections.subtract(1, ordering: .relaxed) }
        if let most = services.configuration.server.maxConnections, open > most {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        guard !DescriptorReserve.isReached(DescriptorReserve.ofClients) else {
            services.warnOfDescriptors()
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        return channel.eventLoop.completed {
            try Self.setOptions(of: channel)
            let peer = channel.remoteAddress.flatMap(PackedAddress.bytes(of:))
            guard services.configuration.server.proxyProtocol else { return try serve(channel, peer, state) }
            // Only a trusted balancer may send the header that says where a connection comes from.
            guard ForwardedFacts.isTrusted(peer, services) else {
                services.warnOfForwarding()
                throw ChannelError.operationUnsupported
            }
            let pending = PendingConnection(of: channel, on: state.value, within: services.headerTimeout)
            let reader = ProxyProtocolHandler(pending) { source in
                try serve(channel, source ?? peer, state)
            }
            try channel.pipeline.syncOperations.addHandler(reader)
        }
    }

    /// Sets the channel's options here, since the bootstrap would make a future for each.
    private static func setOptions(of channel: any Channel) throws {
        guard let options = channel.syncOptions else { return }
        try options.setOption(.allowRemoteHalfClosure, value: true)
        try options.setOption(.writeBufferWaterMark, value: .init(low: 32 * 1024, high: 128 * 1024))
        // A connection keeps its first buffer. It has the size of a usual request and grows where that is too small.
        try options.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1024, maximum: 64 * 1024))
    }

    private func serve(_ channel: any Channel, _ peer: [UInt8]?, _ state: NIOLoopBound<LoopState>) throws {
        guard let tls else {
            let origin = ConnectionOrigin(peer: peer, isTLS: false, isStream: false)
            return try add(to: channel, state.value, origin)
        }
        let contexts = tls.contexts
        try channel.pipeline.syncOperations.addHandler(TransportEndHandler())
        // A client that opens a connection and does not finish the handshake is disconnected.
        let handshake = NIOLoopBound(
            PendingConnection(of: channel, on: state.value, within: services.headerTimeout),
            eventLoop: channel.eventLoop)
        guard contexts.dependOnName else {
            return try secure(channel, contexts.choice(for: nil), peer, state, handshake)
        }
        let reader = SNIHandler { result in
            channel.eventLoop.completed {
                let name: String? = if case .hostname(let name) = result { name } else { nil }
                try secure(channel, contexts.choice(for: name), peer, state, handshake)
            }
        }
        try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(reader))
    }

    /// Sets up TLS, and above it what the client chooses in the handshake.
    private func secure(
        _ channel: any Channel, _ choice: ServerContexts.Choice, _ peer: [UInt8]?, _ state: NIOLoopBound<LoopState>,
        _ handshake: NIOLoopBound<PendingConnection>
    ) throws {
        let server = NIOLoopBound(NIOSSLServerHandler(context: choice.context), eventLoop: channel.eventLoop)
        try channel.pipeline.syncOperations.addHandler(server.value)
        let negotiation = ApplicationProtocolNegotiationHandler { (result: ALPNResult) in
            handshake.value.end()
            return channel.eventLoop.completed {
                var origin = ConnectionOrigin(peer: peer, isTLS: true, isStream: false)
                if let authority = choice.authority {
                    origin.certificate =
                        server.value.peerCertificate.map { .shown(ShownCertificate($0, by: authority)) } ?? .missing
                }
                guard case .negotiated("h2") = result else { return try add(to: channel, state.value, origin) }
                origin.isStream = true
                try serveStreams(of: channel, origin, state)
            }
        }
        try channel.pipeline.syncOperations.addHandler(negotiation)
    }

    /// Sets up HTTP/2: every stream is treated as a connection of its own, and a connection without streams is closed
    /// after a while.
    ///
    /// - Parameter origin: that of each stream.
    private func serveStreams(
        of channel: any Channel, _ origin: ConnectionOrigin, _ state: NIOLoopBound<LoopState>
    ) throws {
        let output = HTTP2Output()
        let watch = NIOLoopBound(
            HTTP2ConnectionCloser(
                channel: channel, output: output, loop: state.value, idleTimeout: services.idleTimeout),
            eventLoop: channel.eventLoop)
        let settings = EdgeHTTP2Settings(maxHeader: services.wireLimits.maxHead)
        let goAway = GoAwayObserver()
        try channel.pipeline.syncOperations.addHandler(output)
        try channel.pipeline.syncOperations.addHandler(LateHeaders())
        try channel.pipeline.syncOperations.addHandler(SettingsWait(maxHead: settings.maxHeaderList))
        let origin = NIOLoopBound(origin, eventLoop: channel.eventLoop)
        try settings.configure(channel, goAway) { stream in
            stream.eventLoop.completed {
                watch.value.opened(stream)
                try add(to: stream, state.value, origin.value)
            }
        }
        try channel.pipeline.syncOperations.addHandler(HTTP2ConnectionEnd(goAway, watch.value))
    }

    private func add(to channel: any Channel, _ state: LoopState, _ origin: ConnectionOrigin) throws {
        guard let snapshot = state.snapshot else { throw ChannelError.operationUnsupported }
        let connection = EdgeConnection(snapshot: snapshot, loop: state, channel: channel, origin: origin)
        if origin.isStream {
            let stream = HTTP2Stream(connection, limits: services.wireLimits)
            connection.stream = stream
            try channel.pipeline.syncOperations.addHandler(stream)
        }
        try channel.pipeline.syncOperations.addHandler(connection)
    }
}
