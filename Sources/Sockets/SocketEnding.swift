import EdgeCore
import NIOCore

/// How a connection ends when its last bytes matter.
package enum SocketEnding {
    /// Lets what was written go out, says that nothing follows, and closes when the peer has, or when `limit` is over.
    package static func close(
        _ channel: any Channel, within limit: TimeAmount = .seconds(1), on deadlines: DeadlineWheel
    ) {
        channel.flush()
        channel.close(mode: .output, promise: nil)
        ConnectionDeadline.close(channel, after: limit, on: deadlines)
    }
}
