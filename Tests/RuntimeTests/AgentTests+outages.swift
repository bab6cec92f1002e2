import BasicsForTests
import Encodings
import StateSurface
import StateSurfaceTesting
import Synchronization
import Testing

@testable import Runtime

/// Outcomes that can't be written, sockets that are slow or go, and nodes that crash.
extension AgentTests {
    @Test("An outcome that can't be written for long is written when the store is back; nothing runs twice")
    func leftover() async throws {
        let counter = CountingRealm()
        let gate = GateRealm()
        let fixture = RuntimeFixture(realms: [gate, counter])
        let permit = try await self.permit(fixture)
        let socket = try await Socket(fixture.runtime, permit)
        socket.send("slow", "gate")
        await gate.entered.wait(for: 1)
        fixture.store.set(reachable: false)
        gate.open()
        let fault = try #require(try await socket.wait(for: 2).last)
        #expect(fault["type"] == "error" && fault["id"] == "slow")
        await #expect(throws: StateSurfaceError.self) { try await fixture.runtime.finishInterrupted() }
        fixture.store.set(reachable: true)
        try await fixture.runtime.finishInterrupted()
        let event = try #require(try await socket.wait(for: 3).last)
        #expect(event["id"] == "slow" && event["data"] == true && event["seq"] == 1)
        #expect(gate.entered.all.count == 1)
    }

    @Test("An outcome whose session was removed meanwhile keeps neither the node's beat nor other outcomes back")
    func leftoverOfRemovedSession() async throws {
        let gate = GateRealm()
        let fixture = RuntimeFixture(realms: [gate])
        let permits = [try await self.permit(fixture), try await self.permit(fixture)]
        var sockets: [Socket] = []
        for (index, permit) in permits.enumerated() {
            let socket = try await Socket(fixture.runtime, permit)
            socket.send("slow", "gate")
            sockets.append(socket)
            await gate.entered.wait(for: index + 1)
        }
        fixture.store.set(reachable: false)
        gate.open()
        for socket in sockets { _ = try await socket.wait(for: 2) }
        fixture.store.removeExecutions(of: permits[0].sessionID)
        fixture.store.set(reachable: true)
        try await fixture.runtime.finishInterrupted()
        #expect(try await sockets[1].wait(for: 3).last?["data"] == true)
        #expect(try await fixture.store.beat(nodeID: "other", at: fixture.clock.now, within: 5_000).count == 2)
    }

    @Test("A caller that goes away does not cut off what it began")
    func cancelledCaller() async throws {
        let gate = GateRealm()
        let fixture = RuntimeFixture(realms: [gate])
        let permit = try await self.permit(fixture)
        let socket = try await Socket(fixture.runtime, permit)
        let caller = Task {
            try await fixture.runtime.execute(permit: permit, intentJSON: #"{"id":"a","intent":"gate"}"#.utf8)
        }
        await gate.entered.wait(for: 1)
        caller.cancel()
        gate.open()
        #expect(try await socket.wait(for: 2).last?["data"] == true)
    }

    @Test("A socket's queue is bounded")
    func overload() async throws {
        let gate = GateRealm()
        let fixture = RuntimeFixture(realms: [gate], limits: AgentLimits(maxQueued: 4))
        let socket = try await Socket(fixture.runtime, try await permit(fixture))
        socket.send("slow", "gate")
        await gate.entered.wait(for: 1)
        for index in 0..<6 { socket.send("\(index)") }
        let faults = try await socket.wait(for: 3).dropFirst()
        #expect(faults.map { $0["id"] } == ["4", "5"])
        #expect(faults.allSatisfy { $0["error"]?.objectValue?["code"] == "overloaded" })
        gate.open()
        #expect(try await socket.wait(for: 8).last?["id"] == "3")
    }

    @Test("A detached socket hears nothing more, and what waits is dropped")
    func detached() async throws {
        let gate = GateRealm()
        let fixture = RuntimeFixture(realms: [gate])
        let permit = try await self.permit(fixture)
        let socket = try await Socket(fixture.runtime, permit)
        let other = try await Socket(fixture.runtime, permit)
        socket.send("slow", "gate")
        socket.send("waiting")
        await gate.entered.wait(for: 1)
        socket.connection.detach()
        gate.open()
        let frames = try await other.wait(for: 2)
        #expect(frames.last?["id"] == "slow")
        #expect(socket.received.all.count == 1)
        #expect(try await fixture.store.execution(sessionID: permit.sessionID, intentID: "waiting") == nil)
    }

    @Test("An intent that a crash cut off is reported as interrupted, and never run again")
    func interrupted() async throws {
        let counter = CountingRealm()
        let crashed = RuntimeFixture(realms: [counter], nodeID: "node_crashed")
        let permit = try await self.permit(crashed)
        let execution = ExecutionRecord(
            sessionID: permit.sessionID, intentID: "a", intent: "count", nodeID: "node_crashed", epoch: 0, createdAt: 0)
        #expect(try await crashed.store.begin(execution: execution) == nil)
        try await crashed.runtime.finishInterrupted()
        let next = RuntimeFixture(store: crashed.store, clock: crashed.clock, realms: [counter])
        let socket = try await Socket(next.runtime, permit)
        // The other node may still be at it.
        try await next.runtime.finishInterrupted()
        #expect(try await crashed.store.execution(sessionID: permit.sessionID, intentID: "a")?.outcome == nil)
        next.clock.advance(by: 5_001)
        try await next.runtime.finishInterrupted()
        let event = try #require(try await socket.wait(for: 2).last)
        #expect(event["event"] == "error" && event["id"] == "a")
        #expect(event["error"]?.objectValue?["code"] == "interrupted")
        socket.send("a", "count")
        #expect(try await socket.wait(for: 3).last == event)
        #expect(counter.runs.load(ordering: .relaxed) == 0)
    }

    @Test("A store that is away refuses new intents, and loses no outcome of one that ran")
    func storeAway() async throws {
        let gate = GateRealm()
        let fixture = RuntimeFixture(realms: [gate])
        let socket = try await Socket(fixture.runtime, try await permit(fixture))
        socket.send("slow", "gate")
        await gate.entered.wait(for: 1)
        fixture.store.set(reachable: false)
        gate.open()
        let other = try? await fixture.runtime.attach(permit: try await permit(fixture), resumeFrom: nil) { _ in }
        #expect(other == nil)
        fixture.store.set(reachable: true)
        #expect(try await socket.wait(for: 2).last?["id"] == "slow")
        fixture.store.set(reachable: false)
        socket.send("b")
        let fault = try #require(try await socket.wait(for: 3).last)
        #expect(fault["id"] == "b" && fault["error"]?.objectValue?["code"] == "store_unavailable")
    }
}
