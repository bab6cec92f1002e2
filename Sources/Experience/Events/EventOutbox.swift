import Logging
import StateSurface
import Synchronization
import Webhooks

/// Takes failed logins without making a caller wait, and writes them to the store in their order.
///
/// Nothing is written when a login fails, so there is no transaction to write the event in. What is reported here and
/// not yet written, some milliseconds' worth, is lost if the process is killed; it is written while the process drains.
final class EventOutbox: Sendable {
    /// The most deliveries in memory. Beyond it, which takes a store that is gone for long, the newest are dropped.
    static let capacity = 10_000
    /// The most deliveries that wait for one receiver in the store before failed logins are dropped: any client can
    /// cause them, and they must leave room for the others.
    static let roomForFailedLogins = 5_000
    /// The most deliveries that one transaction writes.
    private static let batch = 500

    private struct State {
        var waiting: [DeliveryRecord] = []
        var dropped = 0
    }

    private let receivers: EventReceivers
    private let store: any DeliveryStore
    private let logger: Logger
    private let state = Mutex(State())
    private let wake: Wake
    /// Called when deliveries were written.
    private let written: Wake

    init(
        receivers: EventReceivers, store: any DeliveryStore, logger: Logger, written: Wake
    ) {
        self.receivers = receivers
        self.store = store
        self.logger = logger
        self.written = written
        wake = Wake()
    }

    /// Takes an event. May be called on an event loop: it does not block. Costs a lock and no I/O. Nothing is kept for
    /// an event that no receiver wants.
    func report(_ event: WebhookEvent) {
        let deliveries = receivers.deliveries(of: event)
        guard !deliveries.isEmpty else { return }
        state.withLock { state in
            if state.waiting.count + deliveries.count <= Self.capacity {
                state.waiting += deliveries
            } else {
                state.dropped += deliveries.count
            }
        }
        wake.up()
    }

    /// Writes what is reported, until the task is cancelled. To be called once. While the store is away, the oldest
    /// batch is tried again every second, and order is kept.
    func run() async {
        for await _ in wake.calls {
            while !Task.isCancelled, await writeBatch() {}
        }
    }

    /// Writes what was reported until now, within some seconds. To be called when ``run()`` has returned; what is left
    /// after three seconds is lost.
    func flush() async {
        let end = ContinuousClock.now + .seconds(3)
        while ContinuousClock.now < end, await writeBatch() {}
    }

    /// Writes some deliveries.
    /// - Returns: whether there may be more.
    private func writeBatch() async -> Bool {
        let (batch, dropped) = state.withLock { state in
            defer { state.dropped = 0 }
            return (Array(state.waiting.prefix(Self.batch)), state.dropped)
        }
        if dropped > 0 { warn("events were dropped: the store has not taken any for too long", dropped) }
        guard !batch.isEmpty else { return false }
        do {
            let full = try await store.enqueue(deliveries: batch, limit: Self.roomForFailedLogins)
            if full > 0 { warn("events were dropped: a receiver has not taken any for too long", full) }
        } catch {
            logger.debug("events could not be stored; trying again", metadata: ["error": "\(error)"])
            try? await Task.sleep(for: .seconds(1))
            return true
        }
        state.withLock { $0.waiting.removeFirst(min(batch.count, $0.waiting.count)) }
        written.up()
        return true
    }

    private func warn(_ message: Logger.Message, _ count: Int) {
        logger.warning(message, metadata: ["count": "\(count)"])
    }
}

/// A call that waits for its listener; several calls before that are one. It has one listener.
struct Wake: Sendable {
    /// Ends only with the task that reads it.
    let calls: AsyncStream<Void>
    private let caller: AsyncStream<Void>.Continuation

    init() {
        (calls, caller) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Safe from any thread, and never waits.
    func up() { caller.yield() }
}
