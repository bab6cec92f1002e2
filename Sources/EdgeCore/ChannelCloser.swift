import NIOCore

/// Closes a channel when its time has come.
package final class ChannelCloser: DeadlineHolder {
    private let channel: any Channel

    package init(_ channel: any Channel) { self.channel = channel }

    package func deadlinePassed() { channel.close(promise: nil) }
}
