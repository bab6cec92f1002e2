import NIOCore

/// The socket under a channel, for writing to it without going through the channel's list of pending writes.
///
/// SwiftNIO lends the descriptor for the length of a closure, because a channel that has closed no longer owns it and
/// another connection may have its number. Borrowing it anew for each write costs microseconds (a cast to a generic
/// protocol), so it is borrowed once and used only while `Channel.isActive` is true. A channel closes its descriptor
/// and becomes inactive in one step, without calling other code in between; `ChannelSocketTests` checks that this stays
/// so.
///
/// Confined to the channel's loop.
package struct ChannelSocket {
    private let channel: any Channel
    private let handle: NIOBSDSocket.Handle

    /// Finds the socket; nil for a channel without one, such as a stream of HTTP/2, and for one that is closed.
    package init?(_ channel: any Channel) {
        guard let handle = Self.borrow(from: channel, { $0 }) else { return nil }
        self.channel = channel
        self.handle = handle
    }

    /// The socket that the caller has made a channel of. That saves borrowing it.
    ///
    /// - Parameter handle: the channel's own descriptor.
    package init(_ channel: any Channel, handle: NIOBSDSocket.Handle) {
        self.channel = channel
        self.handle = handle
    }

    /// Calls `body` with the descriptor; nil where the channel is not, or no longer, connected.
    package func withHandle<Value>(_ body: (NIOBSDSocket.Handle) -> Value) -> Value? {
        channel.isActive ? body(handle) : nil
    }

    /// Borrows the descriptor of a channel that need not be connected yet; nil where it has none or is closed.
    package static func borrow<Value>(from channel: any Channel, _ body: (NIOBSDSocket.Handle) -> Value) -> Value? {
        let operations = channel.pipeline.syncOperations
        return (try? operations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self, body)) ?? nil
    }
}
