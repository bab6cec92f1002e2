import EdgeCore
import NIOCore

/// Ends a connection so that its last bytes still arrive.
package enum SocketEnding {
    /// Sends what was written, shuts the output down, and closes when the peer has, or when `limit` is over.
    ///
    /// - Parameter channel: of the client or of the upstream. Called on its event loop.
    /// - Parameter limit: counted from now, so it includes the time that the last bytes take.
    package static func close(
        _ channel: any Channel, within limit: TimeAmount = .seconds(1), on deadlines: DeadlineWheel
    ) {
        channel.flush()
        channel.close(mode: .output, promise: nil)
        ConnectionDeadline.close(channel, after: limit, on: deadlines)
    }
}
