import NIOCore
import NIOHTTP2
import NIOSSL
import NIOTLS
import Synchronization

/// Makes the pipeline of a new connection: plain, TLS with HTTP/1.1, or TLS with HTTP/2 whose streams are each treated
/// as a connection of their own.
struct EdgePipeline: Sendable {
    let services: EdgeServices
    let loops: [ObjectIdentifier: NIOLoopBound<LoopState>]
    let tls: ServerTLS?

    func connect(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard let state = loops[ObjectIdentifier(channel.eventLoop)] else {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        services.metrics.connections.add(1, ordering: .relaxed)
        return channel.eventLoop.makeCompletedFuture {
            let peer = channel.remoteAddress.flatMap(IPAddress.bytes(of:))
            guard let tls else {
                let origin = ConnectionOrigin(peer: peer, isTLS: false, isStream: false)
                try add(to: channel, state.value, origin)
                return
            }
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls.context))
            let negotiation = ApplicationProtocolNegotiationHandler { (result: ALPNResult) in
                channel.eventLoop.makeCompletedFuture {
                    let origin = ConnectionOrigin(peer: peer, isTLS: true, isStream: false)
                    if case .negotiated("h2") = result {
                        try HTTP2Adapter.configure(channel) { stream in
                            let origin = ConnectionOrigin(peer: peer, isTLS: true, isStream: true)
                            return stream.eventLoop.makeCompletedFuture {
                                try stream.pipeline.syncOperations.addHandler(HTTP2Adapter())
                                try self.add(to: stream, state.value, origin)
                            }
                        }
                    } else {
                        try add(to: channel, state.value, origin)
                    }
                }
            }
            try channel.pipeline.syncOperations.addHandler(negotiation)
        }
    }

    private func add(to channel: any Channel, _ state: LoopState, _ origin: ConnectionOrigin) throws {
        let connection = EdgeConnection(services: services, loop: state, channel: channel, origin: origin)
        try channel.pipeline.syncOperations.addHandler(connection)
    }
}
