import NIOCore

/// The socket under a channel.
///
/// The channel vouches for it at each use: a socket that has been closed is not handed out, whoever has its number now.
package struct ChannelSocket {
    private let core: any NIOTransportAccessibleChannelCore

    /// nil for a channel that is no socket, such as a stream of HTTP/2.
    package init?(_ channel: any Channel) {
        // The protocol alone: a cast to one with its type parameter goes by the names of types, which takes microseconds.
        guard let core = channel._channelCore as? any NIOTransportAccessibleChannelCore else { return nil }
        self.core = core
    }

    /// nil where the socket is closed.
    package func withHandle<Value>(_ body: (NIOBSDSocket.Handle) -> Value) -> Value? {
        Self.withHandle(of: core, body)
    }

    private static func withHandle<Core: NIOTransportAccessibleChannelCore, Value>(
        of core: Core, _ body: (NIOBSDSocket.Handle) -> Value
    ) -> Value? {
        let value = try? core.withUnsafeTransport { transport in (transport as? NIOBSDSocket.Handle).map(body) }
        return value ?? nil
    }
}
