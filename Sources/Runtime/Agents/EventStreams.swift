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
            self.emit(.event(event.payload))
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
        /// Everyone who lacks an event and has room for it is among these; others may be, until they are looked at.
        var behind: [ObjectIdentifier: Listener] = [:]
        /// The last event that the stream is known to hold.
        var lastSeq: Int64 = 0
        /// The reader at work for these listeners; nil while there is none.
        var reader: UInt64?

        /// With a new event every listener is behind; without one, none has to be looked at.
        mutating func grow(to seq: Int64) {
            guard seq > self.lastSeq else { return }
            self.lastSeq = seq
            self.behind = self.listeners
        }

        /// One of them has begun, or has room again.
        mutating func reconsider(_ listener: Listener) {
            let id = ObjectIdentifier(listener)
            guard self.listeners[id] != nil, listener.delivered < self.lastSeq else { return }
            self.behind[id] = listener
        }

        /// After which event to read next, for the listener that is the farthest behind; nil when none is.
        mutating func nextPosition() -> Int64? {
            let lastSeq = self.lastSeq
            self.behind = self.behind.filter { $0.value.hasRoom && $0.value.delivered < lastSeq }
            return self.behind.values.lazy.map(\.delivered).min()
        }
    }

    private static let batch = 128
    private let store: any ExecutionStore
    private let channels = Mutex<[String: Channel]>([:])
    private let lastReader = Atomic<UInt64>(0)
    private let looks = Atomic<Int>(0)

    init(store: any ExecutionStore) {
        self.store = store
    }

    /// How many listeners were looked at so far to find out who is behind: what all of this costs.
    var looksTaken: Int { self.looks.load(ordering: .relaxed) }

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
            channels[listener.sessionID]?.behind[ObjectIdentifier(listener)] = nil
            if channels[listener.sessionID]?.listeners.isEmpty == true { channels[listener.sessionID] = nil }
        }
    }

    /// Lets a socket have everything after `seq`.
    func start(_ listener: Listener, after seq: Int64, lastSeq: Int64) {
        listener.move(to: seq)
        self.update(listener.sessionID) { channel in
            channel.grow(to: lastSeq)
            channel.reconsider(listener)
        }
    }

    /// A socket has room for more.
    func written(_ count: Int, to listener: Listener) {
        listener.written(count)
        self.update(listener.sessionID) { $0.reconsider(listener) }
    }

    // MARK: Events

    /// The session's stream holds events up to this number.
    func grew(sessionID: String, to lastSeq: Int64) {
        self.update(sessionID) { $0.grow(to: lastSeq) }
    }

    /// Changes a channel where it lies (a copy would cost as much as it has listeners); reads if that left a listener behind.
    private func update(_ sessionID: String, _ change: (inout Channel) -> Void) {
        let reader = self.channels.withLock { channels -> UInt64? in
            guard channels[sessionID] != nil else { return nil }
            change(&channels[sessionID, default: Channel()])
            guard let channel = channels[sessionID], channel.reader == nil, !channel.behind.isEmpty else { return nil }
            let reader = self.lastReader.add(1, ordering: .relaxed).newValue
            channels[sessionID]?.reader = reader
            return reader
        }
        if let reader { Task { await self.read(sessionID, as: reader) } }
    }

    /// After a gap in the feed: asks the store how far every stream has grown.
    func catchUp() async {
        for id in self.sessionIDs {
            guard let bounds = try? await self.store.eventBounds(sessionID: id) else { continue }
            self.grew(sessionID: id, to: bounds.last)
        }
    }

    /// Reads until no socket is behind.
    private func read(_ sessionID: String, as reader: UInt64) async {
        var pause = 50
        var emptyReads = 0
        while let position = self.nextPosition(sessionID, for: reader) {
            let events = try? await self.store.events(sessionID: sessionID, after: position, limit: Self.batch)
            emptyReads = events?.isEmpty == true ? emptyReads + 1 : 0
            if let events, !events.isEmpty || emptyReads > 3 {
                // Told of, but not there however often asked: waiting for it would be waiting for ever.
                self.deliver(events, after: position, to: sessionID, from: reader)
                pause = 50
            } else {
                // The events are safe where they are; the sockets wait, or the edge closes them.
                try? await Task.sleep(for: .milliseconds(pause))
                pause = min(2_000, pause * 2)
            }
        }
    }

    /// Another reader's channel is none of this one's: all sockets may have gone, and others come.
    private func nextPosition(_ sessionID: String, for reader: UInt64) -> Int64? {
        self.channels.withLock { channels -> Int64? in
            guard channels[sessionID]?.reader == reader else { return nil }
            self.looks.add(channels[sessionID]?.behind.count ?? 0, ordering: .relaxed)
            let position = channels[sessionID, default: Channel()].nextPosition()
            if position == nil { channels[sessionID]?.reader = nil }
            return position
        }
    }

    private func deliver(_ events: [EventRecord], after position: Int64, to sessionID: String, from reader: UInt64) {
        let (listeners, lastSeq) = self.channels.withLock { channels -> ([Listener], Int64) in
            guard let channel = channels[sessionID], channel.reader == reader else { return ([], 0) }
            return (Array(channel.behind.values), channel.lastSeq)
        }
        for listener in listeners {
            // Read once: a socket that starts right now, further back, is for the next round.
            let delivered = listener.delivered
            guard delivered >= position, delivered < lastSeq else { continue }
            if let next = events.first(where: { $0.seq > delivered }), next.seq != delivered + 1 {
                // So slow that what it has yet to see is no longer kept: `ready` tells it so when it comes back.
                listener.emit(.end(.fellBehind))
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
