import BasicsForTests
import Encodings
import StateSurface
import StateSurfaceTesting
import Synchronization
import Testing

@testable import Runtime

@Suite(.timeLimit(.minutes(1))) struct AgentTests {
    let fixture = RuntimeFixture()

    /// One agent's socket: what it sends, and what it was sent.
    final class Socket: Sendable {
        let received = Collected<AgentOutput>()
        let connection: AgentConnection

        init(_ runtime: Runtime, _ permit: Permit, resumeFrom: Int64? = nil) async throws {
            let received = received
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

    func permit(_ fixture: RuntimeFixture? = nil) async throws -> Permit {
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

    @Test("A frame may be nested sixteen levels deep; one that is deeper is told so")
    func tooDeep() async throws {
        let socket = try await Socket(fixture.runtime, try await permit())
        // The message and its params are two of the levels.
        func params(_ depth: Int) -> String {
            #"{"a":\#(String(repeating: "[", count: depth - 2))\#(String(repeating: "]", count: depth - 2))}"#
        }
        socket.send("a", "echo", params(16))
        #expect(try await socket.wait(for: 2).last?["event"] == "result")
        socket.send("b", "echo", params(17))
        let error = try #require(try await socket.wait(for: 3).last?["error"]?.objectValue)
        #expect(error["code"] == "invalid_request" && error["message"] == "The message is nested too deep.")
        socket.connection.receive(text: "[]")
        let other = try await socket.wait(for: 4).last?["error"]?.objectValue
        #expect(other?["message"] == "The message is not one JSON object.")
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
        while fixture.store.beats == 0 { await Task.yield() }
        fixture.clock.advance(by: 60_000)
        runtime.noteUse(session.id)
        work.cancel()
        await work.value
        #expect(fixture.store.stored(session.id)?.lastSeenAt == fixture.clock.now)
    }
}
