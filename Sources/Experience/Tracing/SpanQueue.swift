import Synchronization

/// Finished spans that wait to be sent: at most ``longest``, further ones are dropped and counted. Safe from any
/// thread.
final class SpanQueue: Sendable {
    static let longest = 8_192

    /// Has an element when spans are to be sent at once. For one reader.
    let wakes: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation
    private let dropped: @Sendable (Int) -> Void
    /// Nil once nothing is sent any more.
    private let waiting = Mutex<[FinishedSpan]?>([])

    /// - Parameter dropped: told how many spans were dropped.
    init(dropped: @escaping @Sendable (Int) -> Void) {
        self.dropped = dropped
        let (wakes, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.wakes = wakes
        self.waker = waker
    }

    /// Called on the event loops; costs a lock.
    func append(_ span: FinishedSpan) {
        let hasRoom = waiting.withLock { waiting -> Bool in
            guard let count = waiting?.count, count < Self.longest else { return false }
            waiting?.append(span)
            return true
        }
        if !hasRoom { dropped(1) }
    }

    /// Removes those that have waited longest.
    func take(atMost count: Int) -> [FinishedSpan] {
        waiting.withLock { waiting -> [FinishedSpan] in
            let batch = Array(waiting?.prefix(count) ?? [])
            waiting?.removeFirst(batch.count)
            return batch
        }
    }

    /// Drops what still waits, and what comes later.
    ///
    /// - Returns: how many waited.
    func close() -> Int {
        let left = waiting.withLock { waiting -> Int in
            defer { waiting = nil }
            return waiting?.count ?? 0
        }
        if left > 0 { dropped(left) }
        return left
    }

    /// Spans are to be sent at once.
    func wake() { waker.yield() }
}
