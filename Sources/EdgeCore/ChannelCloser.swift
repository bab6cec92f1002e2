import NIOCore

/// Closes a channel when its deadline passes.
package final class ChannelCloser: DeadlineHolder {
    private let channel: any Channel

    /// Creates a closer for this channel.
    package init(_ channel: any Channel) { self.channel = channel }

    package func deadlinePassed() { channel.close(promise: nil) }
}
