import Testing

@testable import Runtime

/// Which sockets of a session are looked at when something happens to one of them.
@Suite struct EventChannelTests {
    private func listener(at seq: Int64) -> EventStreams.Listener {
        let listener = EventStreams.Listener(sessionID: "ses_a", window: 1) { _ in }
        listener.move(to: seq)
        return listener
    }

    /// A channel of sockets that have all events up to this number.
    private func channel(of listeners: [EventStreams.Listener], upTo last: Int64) -> EventStreams.Channel {
        var channel = EventStreams.Channel()
        for one in listeners { channel.listeners[ObjectIdentifier(one)] = one }
        channel.grow(to: last)
        let next = channel.nextPosition()
        #expect(next == nil && channel.behind.isEmpty)
        return channel
    }

    @Test("A socket that is added is looked at alone, whether it lacks events or not", arguments: [5, 2] as [Int64])
    func added(start: Int64) {
        var sockets = channel(of: (0..<10).map { _ in listener(at: 5) }, upTo: 5)
        let late = listener(at: start)
        sockets.listeners[ObjectIdentifier(late)] = late
        // The store tells an end that is known already, or an earlier one.
        for end in [5, 4] as [Int64] { sockets.grow(to: end) }
        sockets.reconsider(late)
        let behind = Array(sockets.behind.keys)
        #expect(behind == (start < 5 ? [ObjectIdentifier(late)] : []))
        let next = sockets.nextPosition()
        #expect(next == (start < 5 ? start : nil))
    }

    @Test("A new event makes every socket lack one, and the reader begins with the one that is furthest behind")
    func grown() {
        let listeners = (0..<10).map { _ in listener(at: 5) }
        var sockets = channel(of: listeners, upTo: 5)
        listeners[3].move(to: 4)
        sockets.grow(to: 6)
        #expect(sockets.behind.count == 10)
        let next = sockets.nextPosition()
        #expect(next == 4)
    }

    @Test("A socket that has been removed is not looked at again")
    func removed() {
        let listeners = (0..<2).map { _ in listener(at: 5) }
        var sockets = channel(of: listeners, upTo: 5)
        sockets.listeners[ObjectIdentifier(listeners[0])] = nil
        listeners[0].move(to: 1)
        sockets.reconsider(listeners[0])
        #expect(sockets.behind.isEmpty)
    }
}
