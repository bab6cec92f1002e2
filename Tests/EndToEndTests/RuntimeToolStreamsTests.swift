import BasicsForTests
import Foundation
import GatewayForTests
import StateSurface
import Testing

/// The streams of the Runtime's tools (`runtime.mcp`): what they tell, what ends them, and how they go on.
@Suite(.blocking) struct RuntimeToolStreamsTests {
    @Test("The session's stream tells every event with its number, replays from Last-Event-ID, and ends with the grant")
    func stream() async throws {
        let gateway = try await GatewayInProcess.start(ToolCaller.on)
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let caller = try ToolCaller(gateway, ada)
        let session = try caller.begin()
        func open(_ more: String = "") throws -> RawSocket { try caller.stream(session, more) }
        let live = try open()
        #expect(try live.read(through: "id: event.0\ndata:\n\n").hasPrefix("HTTP/1.1 200"))
        expectStatus(try caller.post(ToolCaller.call("1"), session), 200)
        expectStatus(try caller.post(ToolCaller.call(#""two""#), session), 200)
        let told = try live.read(through: "id: event.2\n")
        #expect(told.contains("id: event.1\n") && told.contains("notifications/message"))
        let late = try open("Last-Event-ID: event.1\r\n")
        let missed = try late.read(through: "id: event.2\ndata: ")
        #expect(!missed.contains("id: event.1\ndata: "))
        // Until the client has what it missed, it would ask for it again.
        #expect(missed.contains("id: event.1\ndata:\n\n") && !missed.contains("id: event.2\ndata:\n\n"))
        // Another stream's number: what it told is lost here.
        let lost = try open("Last-Event-ID: event.99\r\n")
        let gap = try lost.read(through: "id: event.1\ndata: ")
        #expect(gap.contains(#""type":"lost""#) && gap.contains(#""level":"warning""#), "\(gap)")
        let resumed = try open("Last-Event-ID: call.n1\r\n")
        #expect(try resumed.read(through: "\"result\":").contains("\"id\":1"))
        let strange = try open("Last-Event-ID: call.n99\r\n")
        #expect(try strange.read(through: "-32600").contains("HTTP/1.1 200"))
        for id in ["event.-1", "event.01", "call.n01", "call.x", "../../x", String(repeating: "9", count: 600)] {
            let answer = try gateway.request(
                "GET", "/mcp",
                headers: [("Authorization", "Bearer \(caller.token)"), ToolCaller.accept, ("Last-Event-ID", id)]
                    + session)
            expectStatus(answer, 400)
        }
        try gateway.endFirstGrant(ada)
        #expect(!String(decoding: try live.readToEnd(), as: UTF8.self).hasSuffix("0\r\n\r\n"))
        expectStatus(try caller.post(ToolCaller.call("9"), session), 401)
    }

    @Test("A call that was lost with its node is answered with an error, in its own stream and in the session's")
    func interrupted() async throws {
        let gateway = try await GatewayInProcess.start(ToolCaller.on)
        defer { gateway.stop() }
        let caller = try ToolCaller(gateway, try gateway.login(.ada))
        let session = try caller.begin()
        let live = try caller.stream(session)
        try live.read(through: "id: event.0\ndata:\n\n")
        let now = gateway.clock.now
        let state = try await StateSurfaceFactory.open(
            url: "sqlite:\(gateway.directory.path)/state.sqlite", clock: { now })
        _ = try await state.begin(
            execution: ExecutionRecord(
                sessionID: session[0].1, intentID: "mcp-n5", intent: "echo", nodeID: "gone", epoch: 0,
                createdAt: now))
        await state.close()
        let resumed = try caller.stream(session, "Last-Event-ID: call.n5\r\n")
        #expect(try resumed.read(through: #""isError":true"#).contains("interrupted: "))
        #expect(try live.read(through: #""code":"interrupted""#).contains(#""level":"error""#))
        // It does not run when it is sent again.
        let again = try caller.post(ToolCaller.call("5"), session)
        #expect(again.status == 200 && again.text.contains("interrupted: "), "\(again.text)")
    }

    @Test("The result of a call whose grant has ended is not sent, neither as a stream nor as JSON")
    func late() async throws {
        let realm = HeldRealm()
        let gateway = try await GatewayInProcess.start(ToolCaller.on, realms: [realm])
        defer { gateway.stop() }
        // Otherwise a failure here would leave the calls waiting.
        defer { realm.letGo() }
        let ada = try gateway.login(.ada)
        let caller = try ToolCaller(gateway, ada)
        let session = try caller.begin()
        let streamed = try caller.stream(session, message: ToolCaller.call("1", "held", "{}"))
        try streamed.read(through: "id: call.n1\ndata:\n\n")
        let plain = try caller.stream(
            session, message: ToolCaller.call("2", "held", "{}"), accept: "application/json")
        #expect(try await eventually(within: .seconds(20)) { realm.begun == 2 })
        try gateway.endFirstGrant(ada)
        realm.letGo()
        let answer = try plain.response()
        #expect(answer.status == 401 && !answer.text.contains("runs"), "\(answer.status) \(answer.text)")
        #expect(!String(decoding: try streamed.readToEnd(), as: UTF8.self).contains("runs"))
    }

    @Test("A session has so many streams at a time besides its calls, and one that ends makes room")
    func limit() async throws {
        let gateway = try await GatewayInProcess.start(
            "runtime: {mcp: true}\nclients: {registration: true}\nlimits: {sockets_per_session: 2}")
        defer { gateway.stop() }
        let caller = try ToolCaller(gateway, try gateway.login(.ada))
        let session = try caller.begin()
        var first: RawSocket? = try caller.stream(session)
        try first?.read(through: "id: event.0\ndata:\n\n")
        let second = try caller.stream(session, "Last-Event-ID: event.0\r\n")
        try second.read(through: "id: event.0\ndata:\n\n")
        let refused = try caller.stream(session).response()
        #expect(refused.status == 429 && refused.code == "rate_limited", "\(refused.status) \(refused.text)")
        #expect(try caller.post(ToolCaller.call("1"), session).text.contains("\"result\""))
        let free = try caller.stream(try caller.begin())
        try free.read(through: "id: event.0\ndata:\n\n")
        first = nil
        let hasRoom = try await eventually {
            String(decoding: try caller.stream(session).read(12), as: UTF8.self) == "HTTP/1.1 200"
        }
        #expect(hasRoom)
    }

    @Test("A gateway that stops ends the session's stream in order and answers the call under way; the next goes on")
    func drain() async throws {
        let issuer = "http://gatehouse.test"
        let configuration = ToolCaller.on + "\ntokens: {issuer: \"\(issuer)\"}\nserver: {drain: 60s}"
        let realm = HeldRealm()
        var gateway = try await GatewayInProcess.start(configuration, realms: [realm])
        defer { gateway.stop() }
        defer { realm.letGo() }
        var caller = try ToolCaller(gateway, try gateway.login(.ada), issuer: issuer)
        let session = try caller.begin()
        let live = try caller.stream(session)
        try live.read(through: "id: event.0\ndata:\n\n")
        let slow = try caller.stream(session, message: ToolCaller.call("1", "held", "{}"))
        try slow.read(through: "id: call.n1\ndata:\n\n")
        let stopping = Running { [gateway] in gateway.stop() }
        let port = gateway.port
        let isDraining = try await eventually { (try? RawSocket(port: port)) == nil }
        #expect(isDraining)
        realm.letGo()
        #expect(String(decoding: try live.readToEnd(), as: UTF8.self).hasSuffix("\r\n0\r\n\r\n"))
        let answer = String(decoding: try slow.readToEnd(), as: UTF8.self)
        #expect(answer.contains(#""runs":1"#) && answer.hasSuffix("\r\n0\r\n\r\n"), "\(answer)")
        #expect(try stopping.value() == 0)
        gateway = try await GatewayInProcess.start(configuration, directory: gateway.directory, realms: [realm])
        caller.gateway = gateway
        let resumed = try caller.stream(session, "Last-Event-ID: event.0\r\n")
        #expect(try resumed.read(through: "id: event.1\ndata: ").hasPrefix("HTTP/1.1 200"))
    }
}
