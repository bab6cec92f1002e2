import Synchronization

/// A connection that records its bytes.
final class RecordedStream: Sendable {
    private let label: String
    private let stream: any WireStream
    /// How long an answer may take.
    private let timeout: Duration
    private let log = Mutex<(sent: [UInt8], received: [UInt8])>(([], []))

    init(_ label: String, _ stream: any WireStream, timeout: Duration) {
        self.label = label
        self.stream = stream
        self.timeout = timeout
    }

    func send(_ bytes: [UInt8]) async throws {
        log.withLock { $0.sent += bytes }
        try await stream.send(bytes)
    }

    /// What is received within the time, or until `isEnough` returns true.
    func receive(
        within limit: Duration, until isEnough: @escaping @Sendable ([UInt8]) -> Bool
    ) async -> (bytes: [UInt8], hasEnded: Bool) {
        let received = await stream.receive(within: limit, until: isEnough)
        log.withLock { log in
            if log.received.count < Exchange.receivedLimit { log.received += received.bytes }
        }
        return received
    }

    /// The answer to a request; nil if there is none within the time or before the connection ended.
    func answer() async -> RawResponse? {
        let received = await receive(within: timeout) { RawResponse(parsing: $0)?.isComplete ?? false }
        return RawResponse(parsing: received.bytes)
    }

    /// What the target sends until it closes the connection, or until `isEnough` returns true, for as long as an answer
    /// may take. The last request that was sent should ask for the end of the connection.
    ///
    /// - Returns: the bytes, and the judgement on a case whose bytes show no fault: nil, which is a pass, if the target
    ///   closed or `isEnough` returned true. If neither happened in time, the fault could still have come, so it is no
    ///   pass.
    func receiveToEnd(
        or isEnough: @escaping @Sendable ([UInt8]) -> Bool = { _ in false }
    ) async -> (bytes: [UInt8], doubt: Judgement?) {
        let received = await receive(within: timeout, until: isEnough)
        if received.hasEnded || isEnough(received.bytes) { return (received.bytes, nil) }
        if log.withLock({ $0.received.isEmpty }) {
            return (received.bytes, Judgement(SendFailure(.timedOut, "no answer in time")))
        }
        return (
            received.bytes,
            Judgement(.inconclusive, "the target neither answered everything nor closed the connection in time")
        )
    }

    /// Whether the target closes the connection or the WebSocket within the time.
    func ends(within limit: Duration) async -> Bool {
        let received = await receive(within: limit, until: Frame.holdsClose)
        return received.hasEnded || Frame.holdsClose(received.bytes)
    }

    /// As ``ends(within:)``, where the target may send whatever it likes. Throws if that is so much that its end can't
    /// be seen.
    func isSeenToEnd(within limit: Duration) async throws -> Bool {
        if await ends(within: limit) { return true }
        if stream.hasOverflowed { throw Unjudged("the socket sends more than is read, so its end can't be seen") }
        return false
    }

    /// Throws if the target closes the socket before anything was done to it.
    func requireOpen() async throws {
        if try await isSeenToEnd(within: .milliseconds(200)) { throw Unjudged("the socket closed by itself") }
    }

    func close() async {
        await stream.close()
    }

    var exchange: Exchange {
        let bytes = log.withLock { $0 }
        return Exchange(
            label: label, sent: bytes.sent, received: bytes.received,
            status: RawResponse(parsing: bytes.received)?.status)
    }
}
