import BasicsForTests
import Encodings
import StateSurface
import StateSurfaceTesting
import Synchronization
import Testing

@testable import Runtime

/// What a socket gets of the events before it.
extension AgentTests {
    @Test(
        "A socket resumes where it was, also at another node",
        arguments: [(nil, []), (0, [1, 2, 3]), (2, [3]), (3, [])] as [(Int64?, [Int64])])
    func resume(from: Int64?, expected: [Int64]) async throws {
        let permit = try await self.permit()
        for id in ["a", "b", "c"] {
            _ = try await fixture.runtime.execute(
                permit: permit, intentJSON: #"{"id":"\#(id)","intent":"echo"}"#.utf8)
        }
        let other = RuntimeFixture(store: fixture.store, clock: fixture.clock)
        let socket = try await Socket(other.runtime, permit, resumeFrom: from)
        socket.send("d")
        let frames = try await socket.wait(for: expected.count + 2)
        #expect(frames.first?["last_seq"] == 3 && frames.first?["lost"] == nil)
        #expect(frames.dropFirst().map { $0["seq"]?.int64Value } == expected + [4])
    }

    @Test("What is no longer kept is said to be lost", arguments: [0, 3, 9, -1, .min, .max] as [Int64])
    func lost(from: Int64) async throws {
        let permit = try await self.permit()
        for index in 0..<8 {
            _ = try await fixture.runtime.execute(
                permit: permit, intentJSON: #"{"id":"\#(index)","intent":"echo"}"#.utf8)
        }
        fixture.store.forgetEvents(sessionID: permit.sessionID, before: 5)
        let socket = try await Socket(fixture.runtime, permit, resumeFrom: from)
        let frames = try await socket.wait(for: 5)
        #expect(frames.first?["lost"] == true && frames.first?["first_seq"] == 5)
        #expect(frames.dropFirst().map { $0["seq"]?.int64Value } == [5, 6, 7, 8])
    }

    @Test("The place just before what is kept is not lost")
    func justKept() {
        #expect(StreamStart(resumeFrom: 4, first: 5, last: 8).isLost == false)
        #expect(StreamStart(resumeFrom: 0, first: 1, last: 0).isLost == false)
        #expect(StreamStart(resumeFrom: 1, first: 1, last: 0).isLost)
    }

    @Test("A long replay waits for a slow socket, and goes on where it stopped; others don't wait")
    func window() async throws {
        let permit = try await self.permit()
        for index in 0..<20 {
            _ = try await fixture.runtime.execute(
                permit: permit, intentJSON: #"{"id":"\#(index)","intent":"echo"}"#.utf8)
        }
        let slow = Collected<AgentOutput>()
        let connection = try await fixture.runtime.attach(permit: permit, resumeFrom: 0, window: 3) {
            slow.append($0)
        }
        let quick = try await Socket(fixture.runtime, permit, resumeFrom: 0)
        #expect(try await quick.wait(for: 21).count == 21)
        #expect(await slow.wait(for: 4).count == 4)
        connection.written(events: 2)
        #expect(await slow.wait(for: 6).count == 6)
        for count in 7...21 {
            connection.written(events: 1)
            #expect(await slow.wait(for: count).count == count)
        }
        let all = await slow.wait(for: 21)
        #expect(all.count == 21)
        #expect(all.dropFirst() == ArraySlice(quick.received.all.dropFirst()))
    }
}
