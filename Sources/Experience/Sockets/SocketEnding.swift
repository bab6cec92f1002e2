import NIOCore

/// How a connection ends when its last bytes matter.
enum SocketEnding {
    /// Lets what was written go out, says that nothing follows, and closes when the client has, or when `limit` is over.
    static func close(_ channel: any Channel, within limit: TimeAmount = .seconds(1)) {
        channel.flush()
        channel.close(mode: .output, promise: nil)
        channel.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
    }
}
