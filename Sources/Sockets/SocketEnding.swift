import EdgeCore
import NIOCore

/// Ends a connection so that its last bytes still arrive.
package enum SocketEnding {
    /// Sends what was written, shuts the output down, and closes when the peer has, or when `limit` is over.
    package static func close(
        _ channel: any Channel, within limit: TimeAmount = .seconds(1), on deadlines: DeadlineWheel
    ) {
        channel.flush()
        channel.close(mode: .output, promise: nil)
        ConnectionDeadline.close(channel, after: limit, on: deadlines)
    }
}
