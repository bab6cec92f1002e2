import StateSurface
import Synchronization

/// Delivers the events of sessions to their sockets: all events, in order, each once.
///
/// The store's stream is the only source, on whichever node an intent ran. A session's sockets share one reader, which
/// runs while any of them lacks events.
final class EventStreams: Sendable {
    /// A socket that receives events.
    final class Listener: Sendable {
        /// The session whose events it gets.
        let sessionID: String
        private let send: @Sendable (AgentOutput) -> Void
        private let position = Atomic<Int64>(.max)
        /// Outcomes that were asked for again before the stream had delivered them. They follow their events.
        private let repeats = Mutex<[EventRecord]>([])
        private let isOpen = Atomic<Bool>(true)
        private let window: Int
        private let inFlight = Atomic<Int>(0)

        /// A listener that has not been started and so gets no events.
        ///
        /// - Parameters:
        ///   - window: how many events may have been given to `send` and not been reported by
        ///     ``EventStreams/written(_:to:)``.
        ///   - send: called on any thread. New events come from the session's reader alone, in their order. It must not
        ///     block.
        init(sessionID: String, window: Int, send: @escaping @Sendable (AgentOutput) -> Void) {
            self.sessionID = sessionID
            self.window = window
            self.send = send
        }

        /// The sequence number of the last event it was given. Until it is ready, it counts as up to date.
        var delivered: Int64 { position.load(ordering: .acquiring) }

        /// Sends something outside the window, such as `ready` or a fault. Nothing is sent after ``close()``.
        func emit(_ output: AgentOutput) {
            if isOpen.load(ordering: .acquiring) { send(output) }
        }

        func close() { isOpen.store(false, ordering: .releasing) }

        var hasRoom: Bool { inFlight.load(ordering: .acquiring) < window }

        fileprivate func emit(_ event: EventRecord) {
            inFlight.add(1, ordering: .acquiringAndReleasing)
            emit(.event(event.payload))
            move(to: event.seq)
        }

        /// Sends a recorded outcome again: at once if this socket has already got it through the stream, else behind it.
        /// The stream may be delivering it at this moment.
        ///
        /// - Returns: false where too many wait for the stream already.
        func emitAgain(_ event: EventRecord, atMost limit: Int) -> Bool {
            let isNow = repeats.withLock { waiting -> Bool? in
                if delivered >= event.seq { return true }
                guard waiting.count < limit else { return nil }
                waiting.append(event)
                return false
            }
            if isNow == true { emit(.event(event.payload)) }
            return isNow != nil
        }

        /// Repeated outcomes are written without having been counted, and must not enlarge the window.
        fileprivate func written(_ count: Int) {
            let left = inFlight.subtract(count, ordering: .acquiringAndReleasing).newValue
            if left < 0 { inFlight.add(-left, ordering: .acquiringAndReleasing) }
        }

        /// Makes this the last event that it has, and sends what waited for it.
        func move(to seq: Int64) {
            let due = repeats.withLock { waiting in
                position.store(seq, ordering: .releasing)
                guard !waiting.isEmpty else { return [] as [EventRecord] }
                defer { waiting.removeAll { $0.seq <= seq } }
                return waiting.filter { $0.seq <= seq }
            }
            for event in due { emit(.event(event.payload)) }
        }
    }

    private static let batch = 128
    private let store: any ExecutionStore
    private let channels = Mutex<[String: Channel]>([:])
    /// Reading the ends of all streams again.
    private let catchingUp = Mutex(CoalescedWork())
    private let lastReader = Atomic<UInt64>(0)

    init(store: any ExecutionStore) {
        self.store = store
    }

    /// The sessions with a socket on this node.
    var sessionIDs: [String] { channels.withLock { Array($0.keys) } }

    // MARK: Sockets

    /// Adds a listener, which from now on misses no report about the session.
    func add(_ listener: Listener) {
        channels.withLock { channels in
            channels[listener.sessionID, default: Channel()].listeners[ObjectIdentifier(listener)] = listener
        }
    }

    /// Closes a listener and forgets it. An event that is being delivered at the same time may still be sent. A
    /// listener that was removed before is left as it is.
    func remove(_ listener: Listener) {
        listener.close()
        channels.withLock { channels in
            guard channels[listener.sessionID]?.listeners.removeValue(forKey: ObjectIdentifier(listener)) != nil else {
                return
            }
            channels[listener.sessionID]?.behind[ObjectIdentifier(listener)] = nil
            if channels[listener.sessionID]?.listeners.isEmpty == true { channels[listener.sessionID] = nil }
        }
    }

    /// Starts delivery to a socket with the events after `seq`.
    ///
    /// - Parameters:
    ///   - seq: the number of the last event that the socket already has; 0 for none.
    ///   - lastSeq: the end of the stream in the store. It is read after ``add(_:)``, so that no event falls between
    ///     the two.
    func start(_ listener: Listener, after seq: Int64, lastSeq: Int64) {
        listener.move(to: seq)
        update(listener.sessionID) { channel in
            channel.grow(to: lastSeq)
            channel.reconsider(listener)
        }
    }

    /// Tells that a socket has written events and has room for more.
    func written(_ count: Int, to listener: Listener) {
        listener.written(count)
        update(listener.sessionID) { $0.reconsider(listener) }
    }

    // MARK: Events

    /// Reports that the session's stream has events up to this number.
    func streamGrew(sessionID: String, to lastSeq: Int64) {
        update(sessionID) { $0.grow(to: lastSeq) }
    }

    /// Changes a channel in place, because a copy would cost as much as it has listeners, and starts a reader if a
    /// listener lacks events.
    private func update(_ sessionID: String, _ change: (inout Channel) -> Void) {
        let reader = channels.withLock { channels -> UInt64? in
            guard channels[sessionID] != nil else { return nil }
            change(&channels[sessionID, default: Channel()])
            guard let channel = channels[sessionID], channel.reader == nil, !channel.behind.isEmpty else { return nil }
            let reader = self.lastReader.add(1, ordering: .relaxed).newValue
            channels[sessionID]?.reader = reader
            return reader
        }
        if let reader { Task { await read(sessionID, as: reader) } }
    }

    /// Reads the end of every stream from the store, after an interruption of the feed. Several interruptions in a row
    /// do not add up: one task reads.
    func catchUp() async {
        guard catchingUp.withLock({ $0.request() }) else { return }
        while catchingUp.withLock({ $0.takeRequest() }) {
            for id in sessionIDs {
                guard let bounds = try? await store.eventBounds(sessionID: id) else { continue }
                streamGrew(sessionID: id, to: bounds.last)
            }
        }
    }

    /// Reads and delivers events until no socket lacks any.
    private func read(_ sessionID: String, as reader: UInt64) async {
        var pause = 50
        var emptyReads = 0
        while let position = nextPosition(sessionID, for: reader) {
            let events = try? await store.events(sessionID: sessionID, after: position, limit: Self.batch)
            emptyReads = events?.isEmpty == true ? emptyReads + 1 : 0
            if let events, !events.isEmpty || emptyReads > 3 {
                // An event that was reported and is not in the store is skipped, because it will not appear.
                deliver(events, after: position, to: sessionID, from: reader)
                pause = 50
            } else {
                // The events are in the store. The sockets wait until it answers, or the edge closes them.
                try? await Task.sleep(for: .milliseconds(pause))
                pause = min(2_000, pause * 2)
            }
        }
    }

    /// The next position for this reader; nil if the channel has another one, because all its sockets were replaced.
    private func nextPosition(_ sessionID: String, for reader: UInt64) -> Int64? {
        channels.withLock { channels -> Int64? in
            guard channels[sessionID]?.reader == reader else { return nil }
            let position = channels[sessionID, default: Channel()].nextPosition()
            if position == nil { channels[sessionID]?.reader = nil }
            return position
        }
    }

    private func deliver(_ events: [EventRecord], after position: Int64, to sessionID: String, from reader: UInt64) {
        let (listeners, lastSeq) = channels.withLock { channels -> ([Listener], Int64) in
            guard let channel = channels[sessionID], channel.reader == reader else { return ([], 0) }
            return (Array(channel.behind.values), channel.lastSeq)
        }
        for listener in listeners {
            // Read once: a socket that starts now at an earlier position is served in the next round.
            let delivered = listener.delivered
            guard delivered >= position, delivered < lastSeq else { continue }
            if let next = events.first(where: { $0.seq > delivered }), next.seq != delivered + 1 {
                // Its next events are no longer kept, which `ready` tells when it reconnects.
                listener.emit(.end(.fellBehind))
                remove(listener)
                continue
            }
            for event in events where event.seq > delivered {
                // The event is sent later, and no other may be sent before it.
                guard listener.hasRoom else { break }
                listener.emit(event)
            }
            if events.isEmpty { listener.move(to: lastSeq) }
        }
    }
}
