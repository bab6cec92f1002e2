import HostileTokens
import NIOCore

/// One connection to the target.
struct NetworkStream: WireStream {
    private let channel: any Channel
    private let inbox: Inbox

    init(_ channel: any Channel, _ inbox: Inbox) {
        self.channel = channel
        self.inbox = inbox
    }

    /// Sends bytes. Failures are ignored, because the target may refuse and close before it has read everything; its
    /// answer still counts.
    func send(_ bytes: [UInt8]) async throws {
        channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    }

    /// Waits until `isEnough` says so of everything that has arrived, the target has closed the connection, or `limit`
    /// has passed.
    func receive(
        within limit: Duration, until isEnough: @escaping @Sendable ([UInt8]) -> Bool
    ) async -> (bytes: [UInt8], hasEnded: Bool) {
        let deadline = channel.eventLoop.scheduleTask(in: .init(limit)) { inbox.giveUp() }
        let received = await withCheckedContinuation { inbox.wait(until: isEnough, $0) }
        deadline.cancel()
        return received
    }

    /// Closes the connection. One that is closed already is no error.
    func close() async {
        try? await channel.close()
    }

    /// Whether the connection was closed because more came than ``Inbox/limit``.
    var hasOverflowed: Bool { inbox.isFull }

    /// Why the TLS handshake failed; nil if it did not.
    var fault: String? { inbox.fault }
}
