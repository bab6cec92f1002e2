extension EventStreams {
    /// The sockets of one session, and which of them lack events.
    ///
    /// An event costs a look at every listener, and whatever else happens a look at one: a socket that is added to
    /// thousands of others is as cheap as the first.
    struct Channel: Sendable {
        var listeners: [ObjectIdentifier: Listener] = [:]
        /// Includes all listeners that lack an event and have room for it, and possibly others until they are examined.
        var behind: [ObjectIdentifier: Listener] = [:]
        /// The last known sequence number of the stream.
        var lastSeq: Int64 = 0
        /// The running reader; nil if there is none.
        var reader: UInt64?

        /// Records a new end of the stream, after which every listener lacks events.
        mutating func grow(to seq: Int64) {
            guard seq > lastSeq else { return }
            lastSeq = seq
            behind = listeners
        }

        /// Examines a listener that has started or has room again.
        mutating func reconsider(_ listener: Listener) {
            let id = ObjectIdentifier(listener)
            guard listeners[id] != nil, listener.delivered < lastSeq else { return }
            behind[id] = listener
        }

        /// The sequence number after which to read next, for the listener that is furthest behind; nil if none is.
        mutating func nextPosition() -> Int64? {
            let lastSeq = lastSeq
            behind = behind.filter { $0.value.hasRoom && $0.value.delivered < lastSeq }
            return behind.values.lazy.map(\.delivered).min()
        }
    }
}
