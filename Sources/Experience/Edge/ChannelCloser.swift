import NIOCore

/// Closes a channel when its time has come.
final class ChannelCloser: DeadlineHolder {
    private let channel: any Channel

    init(_ channel: any Channel) { self.channel = channel }

    func deadlinePassed() { channel.close(promise: nil) }
}
