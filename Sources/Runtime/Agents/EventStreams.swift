import StateSurface
import Synchronization

/// Brings the events of sessions to their sockets: all of them, in order, each once.
///
/// The store's stream is the only source, whichever node an intent ran on. A session's sockets share one reader, which
/// runs while any of them is behind.
final class EventStreams: Sendable {
    /// One socket, as the stream sees it.
    final class Listener: Sendable {
        let sessionID: String
        private let send: @Sendable (AgentOutput) -> Void
        private let position = Atomic<Int64>(.max)
        private let isOpen = Atomic<Bool>(true)
        private let window: Int
        private let onTheWay = Atomic<Int>(0)

        init(sessionID: String, window: Int, send: @escaping @Sendable (AgentOutput) -> Void) {
            self.sessionID = sessionID
            self.window = window
            self.send = send
        }

        /// The last event it was given. As long as it is not ready, it is not behind either.
        var delivered: Int64 { self.position.load(ordering: .acquiring) }

        func emit(_ output: AgentOutput) {
            if self.isOpen.load(ordering: .acquiring) { self.send(output) }
        }

        func close() { self.isOpen.store(false, ordering: .releasing) }

        fileprivate var hasRoom: Bool { self.onTheWay.load(ordering: .acquiring) < self.window }

        fileprivate func emit(_ event: EventRecord) {
            self.onTheWay.add(1, ordering: .acquiringAndReleasing)
            self.emit(.text(event.payload))
            self.move(to: event.seq)
        }

        /// Repeated outcomes leave without having been counted: the window never grows by them.
        fileprivate func written(_ count: Int) {
            let left = self.onTheWay.subtract(count, ordering: .acquiringAndReleasing).newValue
            if left < 0 { self.onTheWay.add(-left, ordering: .acquiringAndReleasing) }
        }

        fileprivate func move(to seq: Int64) { self.position.store(seq, ordering: .releasing) }
    }

    private struct Channel: Sendable {
        var listeners: [ObjectIdentifier: Listener] = [:]
        /// The last event that the stream is known to hold.
        var lastSeq: Int64 = 0
        var isReading = false

        var behind: Int64? {
            self.listeners.values.filter(\.hasRoom).map(\.delivered).filter { $0 < self.lastSeq }.min()
        }
    }

    private static let batch = 128
    private let store: any StateSurface
    private let channels = Mutex<[String: Channel]>([:])

    init(store: any StateSurface) {
        self.store = store
    }

    /// The sessions that have a socket here.
    var sessionIDs: [String] { self.channels.withLock { Array($0.keys) } }

    // MARK: Sockets

    /// From here on nothing that is told of the session is missed.
    func add(_ listener: Listener) {
        self.channels.withLock { channels in
            channels[listener.sessionID, default: Channel()].listeners[ObjectIdentifier(listener)] = listener
        }
    }

    func remove(_ listener: Listener) {
        listener.close()
        self.channels.withLock { channels in
            guard channels[listener.sessionID]?.listeners.removeValue(forKey: ObjectIdentifier(listener)) != nil else {
                return
            }
            if channels[listener.sessionID]?.listeners.isEmpty == true { channels[listener.sessionID] = nil }
        }
    }

    /// Lets a socket have everything after `seq`.
    func start(_ listener: Listener, after seq: Int64, lastSeq: Int64) {
        listener.move(to: seq)
        self.grew(sessionID: listener.sessionID, to: lastSeq)
    }

    /// A socket has room for more.
    func written(_ count: Int, to listener: Listener) {
        listener.written(count)
        self.grew(sessionID: listener.sessionID, to: 0)
    }

    // MARK: Events

    /// The session's stream holds events up to this number.
    func grew(sessionID: String, to lastSeq: Int64) {
        let mustRead = self.channels.withLock { channels -> Bool in
            guard var channel = channels[sessionID] else { return false }
            channel.lastSeq = max(channel.lastSeq, lastSeq)
            let mustRead = !channel.isReading && channel.behind != nil
            channel.isReading = channel.isReading || mustRead
            channels[sessionID] = channel
            return mustRead
        }
        if mustRead { Task { await self.read(sessionID) } }
    }

    /// After a gap in the feed: asks the store how far every stream has grown.
    func catchUp() async {
        for id in self.sessionIDs {
            guard let bounds = try? await self.store.eventBounds(sessionID: id) else { continue }
            self.grew(sessionID: id, to: bounds.last)
        }
    }

    /// Reads until no socket is behind.
    private func read(_ sessionID: String) async {
        var pause = 50
        var emptyReads = 0
        while let position = self.nextPosition(sessionID) {
            let events = try? await self.store.events(sessionID: sessionID, after: position, limit: Self.batch)
            emptyReads = events?.isEmpty == true ? emptyReads + 1 : 0
            if let events, !events.isEmpty || emptyReads > 3 {
                // Told of, but not there however often asked: waiting for it would be waiting for ever.
                self.deliver(events, after: position, to: sessionID)
                pause = 50
            } else {
                // The events are safe where they are; the sockets wait, or the edge closes them.
                try? await Task.sleep(for: .milliseconds(pause))
                pause = min(2_000, pause * 2)
            }
        }
    }

    private func nextPosition(_ sessionID: String) -> Int64? {
        self.channels.withLock { channels in
            guard let channel = channels[sessionID] else { return nil }
            guard let position = channel.behind else {
                channels[sessionID]?.isReading = false
                return nil
            }
            return position
        }
    }

    private func deliver(_ events: [EventRecord], after position: Int64, to sessionID: String) {
        let (listeners, lastSeq) = self.channels.withLock { channels in
            (Array((channels[sessionID]?.listeners ?? [:]).values), channels[sessionID]?.lastSeq ?? 0)
        }
        for listener in listeners {
            // Read once: a socket that starts right now, further back, is for the next round.
            let delivered = listener.delivered
            guard delivered >= position, delivered < lastSeq else { continue }
            if let next = events.first(where: { $0.seq > delivered }), next.seq != delivered + 1 {
                // So slow that what it has yet to see is no longer kept: `ready` tells it so when it comes back.
                listener.emit(.close(code: 1013, reason: "overloaded"))
                self.remove(listener)
                continue
            }
            for event in events where event.seq > delivered {
                // Not skipped but left for later: what follows must not overtake it.
                guard listener.hasRoom else { break }
                listener.emit(event)
            }
            if events.isEmpty { listener.move(to: lastSeq) }
        }
    }
}
