import HostileTokens
import NIOCore
import NIOPosix
import NIOSSL

/// Opens connections to the target.
struct Connector: Sendable {
    let endpoint: Endpoint
    /// Nil for plain http.
    let tls: NIOSSLContext?

    /// Connects within five seconds, with TLS where it is set.
    func open() async throws -> NetworkStream {
        let inbox = Inbox()
        // An address is not sent as a server name (RFC 6066 section 3).
        let name = NetworkText.isIPv4(endpoint.host) || NetworkText.isIPv6(endpoint.host) ? nil : endpoint.host
        let tls = tls
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(5))
            .channelOption(.allowRemoteHalfClosure, value: false)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        let handler = try NIOSSLClientHandler(context: tls, serverHostname: name)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    try channel.pipeline.syncOperations.addHandler(InboxHandler(inbox))
                }
            }
        do {
            let channel = try await endpoint.connect(bootstrap)
            return NetworkStream(channel, inbox)
        } catch {
            throw SendFailure(
                .unreachable, "no answer from \(endpoint.host):\(endpoint.port): is the target running?")
        }
    }
}
