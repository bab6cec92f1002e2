import Encodings
import StateSurface
import Synchronization
import Testing

@testable import Runtime

@Suite(.timeLimit(.minutes(1))) struct AgentTests {
    let fixture = RuntimeFixture()

    /// One agent's socket: what it sends, and what it was sent.
    final class Socket: Sendable {
        let received = Recorder<AgentOutput>()
        let connection: AgentConnection

        init(_ runtime: Runtime, _ permit: Permit, resumeFrom: Int64? = nil) async throws {
            let received = self.received
            self.connection = try await runtime.attach(permit: permit, resumeFrom: resumeFrom) { received.append($0) }
        }

        func wait(for count: Int) async throws -> [JSONObject] {
            try await received.wait(for: count).map { output in
                switch output {
                case .event(let text), .message(let text): return try StrictJSON.object(text)
                case .end: throw AgentFault(.invalidRequest, "closed")
                }
            }
        }

        func send(_ id: String, _ intent: String = "echo", _ params: String = "{}") {
            connection.receive(
                text: #"{"type":"intent","id":"\#(id)","intent":"\#(intent)","params":\#(params)}"#)
        }
    }

    private func permit(_ fixture: RuntimeFixture? = nil) async throws -> Permit {
        let fixture = fixture ?? self.fixture
        return try await fixture.permit(try await fixture.authenticated().session)
    }

    @Test("Ready comes first; an intent is answered by its event, as the contract has it")
    func readyAndEcho() async throws {
        let socket = try await Socket(fixture.runtime, try await permit())
        #expect(
            socket.received.all == [
                .message(
                    #"{"type":"ready","session":{"state":"authenticated","tenant_id":"t","user_id":"usr_a"},"last_seq":0}"#
                )
            ])
        socket.send("c1", "echo", #"{"b":[1.50,"x"],"a":null}"#)
        let received = await socket.received.wait(for: 2)
        #expect(
            received.last
                == .event(#"{"type":"event","seq":1,"id":"c1","event":"result","data":{"b":[1.50,"x"],"a":null}}"#))
    }

    @Test("An intent whose outcome is no longer kept is not run again, and its id is told that it has run")
    func droppedOutcome() async throws {
        let permit = try await self.permit()
        let socket = try await Socket(fixture.runtime, permit)
        socket.send("c1", "artifact.put", #"{"name":"plan","content":{}}"#)
        _ = try await socket.wait(for: 2)
        fixture.store.dropOutcome(sessionID: permit.sessionID, intentID: "c1")
        let body = #"{"id":"c1","intent":"artifact.put","params":{"name":"plan","content":{}}}"#
        let event = try await StrictJSON.object(fixture.runtime.execute(permit: permit, intentJSON: body.utf8))
        #expect(event["seq"] == 1 && event["event"] == "error" && event["id"] == "c1")
        #expect(event["error"]?.objectValue?["code"] == "outcome_dropped")
        let artifact = try await fixture.store.artifact(tenantID: "t", userID: "usr_a", name: "plan")
        #expect(artifact?.version == 1)
    }

    @Test(
        "A frame that is no intent is answered outside the stream",
        arguments: [
            "", "null", "[]", "{", #"{"type":"ping"}"#, #"{"type":"intent"}"#,
            #"{"type":"intent","id":"a"}"#, #"{"type":"intent","id":"","intent":"echo"}"#,
            #"{"type":"intent","id":1,"intent":"echo"}"#, #"{"type":"intent","id":"a","intent":"echo","params":[]}"#,
            #"{"type":"intent","id":"a\u0000","intent":"echo"}"#, #"{"type":"intent","id":"a","intent":""}"#,
            #"{"type":"intent","id":"a","id":"a","intent":"echo"}"#,
            #"{"type":"intent","id":"\#(String(repeating: "x", count: 65))","intent":"echo"}"#,
            #"{"type":"intent","id":"a","intent":"echo","params":{"a":\#(String(repeating: "[", count: 100))"#,
        ])
    func noIntent(frame: String) async throws {
        let socket = try await Socket(fixture.runtime, try await permit())
        socket.connection.receive(text: frame)
        let answer = try #require(try await socket.wait(for: 2).last)
        #expect(answer["type"] == "error" && answer["seq"] == nil)
        #expect(answer["error"]?.objectValue?["code"] == "invalid_request")
        socket.send("after")
        #expect(try await socket.wait(for: 3).last?["seq"] == 1)
    }

    @Test("A frame that is too long is refused before it is read")
    func tooLong() async throws {
        let socket = try await Socket(fixture.runtime, try await permit())
        socket.send("a", "echo", "{\"a\":\"\(String(repeating: "x", count: 65_536))\"}")
        let answer = try #require(try await socket.wait(for: 2).last)
        #expect(answer["error"]?.objectValue?["code"] == "payload_too_large")
    }

    @Test("Ids of 64 characters are accepted, with any number of bytes")
    func longID() async throws {
        let socket = try await Socket(fixture.runtime, try await permit())
        let id = String(repeating: "\u{1F600}", count: 64)
        socket.send(id)
        #expect(try await socket.wait(for: 2).last?["id"] == .string(id))
    }

    @Test("An intent that no realm carries out is an error in the stream")
    func unknownIntent() async throws {
        let socket = try await Socket(fixture.runtime, try await permit())
        socket.send("a", "no.such")
        let event = try #require(try await socket.wait(for: 2).last)
        #expect(event["event"] == "error" && event["seq"] == 1 && event["data"] == nil)
        #expect(event["error"]?.objectValue?["code"] == "not_found")
    }

    @Test("Every socket of the session gets every event once and in order, on every node")
    func fanOut() async throws {
        let other = RuntimeFixture(store: fixture.store, clock: fixture.clock)
        let permit = try await self.permit()
        let stranger = try await Socket(fixture.runtime, try await self.permit())
        let here = try await Socket(fixture.runtime, permit)
        let there = try await Socket(other.runtime, permit)
        for index in 0..<50 {
            here.send("h\(index)")
            there.send("t\(index)")
        }
        for socket in [here, there] {
            let events = try await socket.wait(for: 101).dropFirst()
            #expect(events.map { $0["seq"]?.int64Value } == (1...100).map { Int64($0) })
            #expect(Set(events.compactMap { $0["id"]?.stringValue }).count == 100)
        }
        #expect(stranger.received.all.count == 1)
    }

    @Test("One socket's intents are carried out in the order they came in")
    func order() async throws {
        let socket = try await Socket(fixture.runtime, try await permit())
        for index in 0..<60 { socket.send("\(index)") }
        let events = try await socket.wait(for: 61).dropFirst()
        #expect(events.map { $0["id"]?.stringValue } == (0..<60).map { "\($0)" })
    }

    @Test("A repeated id brings the recorded event and no second run, even with other contents")
    func repeatedID() async throws {
        let counter = CountingRealm()
        let fixture = RuntimeFixture(realms: [counter])
        let permit = try await self.permit(fixture)
        let socket = try await Socket(fixture.runtime, permit)
        socket.send("a", "count")
        _ = try await socket.wait(for: 2)
        socket.send("a", "count")
        let events = try await socket.wait(for: 3)
        #expect(events.count == 3 && events[1] == events[2])
        socket.send("a", "count", #"{"x":1}"#)
        socket.send("a", "echo")
        for repeated in try await socket.wait(for: 5).dropFirst(3) { #expect(repeated == events[1]) }
        #expect(counter.runs.load(ordering: .relaxed) == 1)
        let event = try await fixture.runtime.execute(permit: permit, intentJSON: #"{"id":"a","intent":"count"}"#.utf8)
        #expect(try StrictJSON.object(event) == events[1])
        #expect(counter.runs.load(ordering: .relaxed) == 1)
    }

    @Test("The same id from many places at once runs once, and all get the same event")
    func sameIDAtOnce() async throws {
        let counter = CountingRealm()
        let houses = [RuntimeFixture(realms: [counter])]
        let second = RuntimeFixture(store: houses[0].store, clock: houses[0].clock, realms: [counter])
        let permit = try await self.permit(houses[0])
        let events = try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<20 {
                let runtime = index.isMultiple(of: 2) ? houses[0].runtime : second.runtime
                group.addTask {
                    try await runtime.execute(permit: permit, intentJSON: #"{"id":"a","intent":"count"}"#.utf8)
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(events.count == 1)
        #expect(counter.runs.load(ordering: .relaxed) == 1)
    }

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

    @Test("What was queued before a change of privilege, or before the end, never runs", arguments: [true, false])
    func staleQueue(isLogout: Bool) async throws {
        let gate = GateRealm()
        let counter = CountingRealm()
        let fixture = RuntimeFixture(realms: [gate, counter])
        let issued = try await fixture.authenticated()
        let socket = try await Socket(fixture.runtime, try await fixture.permit(issued.session))
        socket.send("slow", "gate")
        for index in 0..<5 { socket.send("\(index)", "count") }
        await gate.entered.wait(for: 1)
        if isLogout {
            _ = try await fixture.runtime.end(id: issued.session.id)
        } else {
            _ = try await fixture.resume(issued.session.id, secret: issued.secret.hash, family: "new")
        }
        gate.open()
        // The socket was closed by the first intent that no longer had the right to run.
        while !fixture.runtime.streams.sessionIDs.isEmpty { await Task.yield() }
        #expect(counter.runs.load(ordering: .relaxed) == 0)
        #expect(socket.received.all.last == .end(isLogout ? .sessionEnded : .permitOutgrown))
        #expect(try await fixture.store.execution(sessionID: issued.session.id, intentID: "0") == nil)
        #expect(try await fixture.store.execution(sessionID: issued.session.id, intentID: "slow")?.outcome != nil)
    }

    @Test("A long replay waits for a slow socket, and goes on where it stopped; others don't wait")
    func window() async throws {
        let permit = try await self.permit()
        for index in 0..<20 {
            _ = try await fixture.runtime.execute(
                permit: permit, intentJSON: #"{"id":"\#(index)","intent":"echo"}"#.utf8)
        }
        let slow = Recorder<AgentOutput>()
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

    @Test("No intents for a session without an owner, nor for one that has ended")
    func needsOwner() async throws {
        let issued = try await fixture.anonymous()
        let permit = try await fixture.runtime.admit(secretHash: issued.secret.hash).get()
        await #expect(throws: SessionFault.mismatch) { try await Socket(fixture.runtime, permit) }
        await #expect(throws: AgentFault.self) {
            try await fixture.runtime.execute(permit: permit, intentJSON: #"{"intent":"echo"}"#.utf8)
        }
        let owned = try await self.permit()
        _ = try await fixture.runtime.end(id: owned.sessionID)
        await #expect(throws: SessionFault.mismatch) { try await Socket(fixture.runtime, owned) }
        await #expect(throws: AgentFault.self) {
            try await fixture.runtime.execute(permit: owned, intentJSON: #"{"intent":"echo"}"#.utf8)
        }
    }

    @Test("A session describes itself, without its secret")
    func describe() async throws {
        let permit = try await self.permit()
        let event = try await fixture.runtime.execute(
            permit: permit, intentJSON: #"{"intent":"session.describe"}"#.utf8)
        let data = try #require(try StrictJSON.object(event)["data"]?.objectValue)
        #expect(data["session_id"] == .string(permit.sessionID) && data["state"] == "authenticated")
        #expect(!event.contains("sec_"))
    }

    @Test("A result that is too long is an error, not a flood")
    func longResult() async throws {
        let fixture = RuntimeFixture(limits: AgentLimits(maxEvent: 100))
        let event = try await fixture.runtime.execute(
            permit: try await permit(fixture),
            intentJSON: "{\"intent\":\"echo\",\"params\":{\"a\":\"\(String(repeating: "x", count: 100))\"}}".utf8)
        #expect(event.contains("payload_too_large"))
    }

    @Test("The background work goes on by itself and stops when it is told to, writing what is left")
    func background() async throws {
        let session = try await fixture.authenticated().session
        let runtime = fixture.runtime
        let work = Task { await runtime.run() }
        while fixture.store.state.withLock({ $0.beats.isEmpty }) { await Task.yield() }
        fixture.clock.advance(by: 60_000)
        runtime.noteUse(session.id)
        work.cancel()
        await work.value
        #expect(fixture.store.stored(session.id)?.lastSeenAt == fixture.clock.now)
    }
}

/// Counts how often it was run.
final class CountingRealm: Realm {
    let intents = ["count"]
    let runs = Atomic<Int>(0)

    func perform(_ intent: Intent, in context: RealmContext) async -> RealmOutcome {
        .result(.number(JSONNumber(Int64(runs.add(1, ordering: .relaxed).newValue))))
    }
}

/// Holds every call until it is opened.
final class GateRealm: Realm {
    let intents = ["gate"]
    let entered = Recorder<String>()
    private let isOpen = Atomic<Bool>(false)

    func open() { isOpen.store(true, ordering: .releasing) }

    func perform(_ intent: Intent, in context: RealmContext) async -> RealmOutcome {
        entered.append(intent.id)
        while !isOpen.load(ordering: .acquiring) { await Task.yield() }
        return .result(true)
    }
}
