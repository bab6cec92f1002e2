import BasicsForTests
import StateSurface
import StateSurfaceTesting
import Synchronization
import Testing

@testable import Runtime

/// One stream and many sockets, without the rest of the Runtime.
@Suite(.timeLimit(.minutes(1))) struct EventStreamsTests {
    private let store = MemoryStore()

    /// Adds an event to the session's stream and returns its number.
    private func happen(_ name: String) async throws -> Int64 {
        let execution = ExecutionRecord(
            sessionID: "ses_a", intentID: name, intent: "echo", nodeID: "n", epoch: 0, createdAt: 0)
        _ = try await store.begin(execution: execution)
        return try await store.finish(sessionID: "ses_a", intentID: name, at: 0) { "event \($0)" }.seq
    }

    private func listener(
        _ streams: EventStreams, window: Int = .max, after seq: Int64, lastSeq: Int64
    ) -> (listener: EventStreams.Listener, received: Collected<AgentOutput>) {
        let received = Collected<AgentOutput>()
        let listener = EventStreams.Listener(sessionID: "ses_a", window: window) { received.append($0) }
        streams.add(listener)
        streams.start(listener, after: seq, lastSeq: lastSeq)
        return (listener, received)
    }

    private func expected(_ numbers: ClosedRange<Int64>) -> [AgentOutput] { numbers.map { .event("event \($0)") } }

    @Test("Each of many sockets that lack nothing is told of what happens next")
    func many() async throws {
        let streams = EventStreams(store: store)
        let last = try await happen("a")
        let sockets = (0..<3_000).map { _ in listener(streams, after: last, lastSeq: last) }
        let next = try await happen("b")
        streams.streamGrew(sessionID: "ses_a", to: next)
        for socket in sockets {
            #expect(await socket.received.wait(for: 1) == [.event("event 2")])
        }
    }

    @Test("From any start, each socket gets the events it lacks, once and in order")
    func fromEverywhere() async throws {
        let streams = EventStreams(store: store)
        var last: Int64 = 0
        for index in 0..<300 { last = try await happen("e\(index)") }
        let starts: [Int64] = [0, 299, 17, 0, 128, 300, 256]
        let sockets = starts.map { listener(streams, after: $0, lastSeq: last) }
        let next = try await happen("late")
        streams.streamGrew(sessionID: "ses_a", to: next)
        for (start, socket) in zip(starts, sockets) {
            let received = await socket.received.wait(for: Int(next - start))
            #expect(received == expected(start + 1...next))
        }
    }

    @Test("An outcome asked for again while the stream delivers it comes again, and so does one asked for before")
    func askedAgain() async throws {
        let streams = EventStreams(store: store)
        let seq = try await happen("a")
        let event = EventRecord(sessionID: "ses_a", seq: seq, payload: "event \(seq)")
        let received = Collected<AgentOutput>()
        let asking = Mutex<EventStreams.Listener?>(nil)
        // The client answers as soon as it has the event: its question comes in the middle of the delivery.
        let listener = EventStreams.Listener(sessionID: "ses_a", window: .max) { output in
            received.append(output)
            if let listener = asking.withLock({ $0.take() }) { _ = listener.emitAgain(event, atMost: 2) }
        }
        asking.withLock { $0 = listener }
        streams.add(listener)
        streams.start(listener, after: 0, lastSeq: seq)
        #expect(await received.wait(for: 2) == [.event("event 1"), .event("event 1")])

        let early = self.listener(streams, window: 0, after: 0, lastSeq: seq)
        let answers = (0..<3).map { _ in early.listener.emitAgain(event, atMost: 2) }
        #expect(answers == [true, true, false], "no more than so many wait")
        #expect(early.received.all.isEmpty)
        early.listener.move(to: seq)
        #expect(early.received.all == [.event("event 1"), .event("event 1")])
    }

    @Test("A socket without room holds up no other, and continues where it stopped")
    func window() async throws {
        let streams = EventStreams(store: store)
        var last: Int64 = 0
        for index in 0..<10 { last = try await happen("e\(index)") }
        let slow = listener(streams, window: 2, after: 0, lastSeq: last)
        let quick = listener(streams, after: 0, lastSeq: last)
        #expect(await quick.received.wait(for: 10) == expected(1...10))
        #expect(await slow.received.wait(for: 2) == expected(1...2))
        for count in [4, 6, 8, 10] {
            streams.written(2, to: slow.listener)
            #expect(await slow.received.wait(for: count) == expected(1...Int64(count)))
        }
    }

    @Test("A socket that has gone is sent nothing more, and another of its session begins anew")
    func comeAndGo() async throws {
        let streams = EventStreams(store: store)
        let last = try await happen("a")
        let first = listener(streams, after: last, lastSeq: last)
        streams.remove(first.listener)
        #expect(streams.sessionIDs.isEmpty)
        let second = listener(streams, after: 0, lastSeq: last)
        #expect(await second.received.wait(for: 1) == [.event("event 1")])
        streams.written(1, to: first.listener)
        let next = try await happen("b")
        streams.streamGrew(sessionID: "ses_a", to: next)
        #expect(await second.received.wait(for: 2) == expected(1...2))
        #expect(first.received.all.isEmpty)
    }
}
