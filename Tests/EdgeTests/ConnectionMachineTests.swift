import Answers
import EdgeCore
import HTTPWire
import NIOCore
import Testing

@testable import Edge

/// A client's connection without a channel: every event in every state, and what has to hold in any order of them.
@Suite struct ConnectionMachineTests {
    private typealias Machine = ConnectionMachine

    /// What an action is, in words that a table can hold.
    private static func word(_ action: Machine.Action) -> String {
        switch action {
        case .dispatch(let head): "dispatch \(head.string(head.target))"
        case .refuse(let problem): "refuse \(problem.status)"
        case .respond(let problem): "respond \(problem.status)"
        case .giveBody(let part): "body \(String(buffer: part))"
        case .giveEnd: "end"
        case .dropExchange: "drop"
        case .arm(let timer): "arm \(timer)"
        case .finishOutput: "finish"
        case .closeOutput: "close output"
        case .close: "close"
        }
    }

    private static func actions(_ machine: inout Machine) -> [String] {
        var all: [String] = []
        while let action = machine.next() {
            all.append(word(action))
            if case .dispatch = action { _ = machine.dispatched(hasExchange: true) }
            if all.count > 100 { return all + ["without end"] }
        }
        return all
    }

    /// The states, each as what leads to it.
    enum Standing: String, CaseIterable {
        case idle, insideHead, body, paused, answering, awaitingTunnel, streaming, answeringBody, done, tunnel
        case lingering, outputClosed, closed
    }

    private static let post = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n"
    private static let get = "GET /b HTTP/1.1\r\nHost: h\r\n\r\n"

    private static func machine(_ standing: Standing) -> Machine {
        var machine = Machine(limits: WireLimits(), isStream: false)
        func receive(_ text: String) {
            machine.received(ByteBuffer(string: text))
            _ = actions(&machine)
        }
        switch standing {
        case .idle: break
        case .insideHead: receive("GET /")
        case .body: receive(post + "ab")
        case .paused:
            receive(post)
            machine.pauseBody()
        case .answering: receive(get)
        case .awaitingTunnel:
            receive(get)
            machine.expectTunnel()
        case .streaming:
            receive(get)
            _ = machine.startAnswer(.stream)
        case .answeringBody:
            receive(post + "ab")
            _ = machine.startAnswer(.length(3))
        case .done:
            // The answer is whole before its request is.
            receive(post + "ab")
            _ = machine.startAnswer(.none)
            _ = machine.finishAnswer()
            _ = actions(&machine)
        case .tunnel:
            receive(get)
            _ = machine.switchProtocols()
        case .lingering, .outputClosed:
            receive(get)
            machine.closeAfterAnswer()
            _ = machine.startAnswer(.none)
            _ = machine.finishAnswer()
            _ = actions(&machine)
            if standing == .outputClosed {
                machine.outputFinished()
                _ = actions(&machine)
            }
        case .closed: machine.gone()
        }
        return machine
    }

    enum Event: String, CaseIterable {
        case bytes, inputClosed, deadline, deadlineOfSlowReader, drain, outputFinished, start, finish, abort, pause,
            resume
        case closeAfter, switchProtocols, interim, gone, expectTunnel
    }

    private static func apply(_ event: Event, to machine: inout Machine) {
        switch event {
        case .bytes: machine.received(ByteBuffer(string: "cd"))
        case .inputClosed: machine.inputClosed()
        case .deadline: machine.deadlinePassed(clientTakes: true)
        case .deadlineOfSlowReader: machine.deadlinePassed(clientTakes: false)
        case .drain: machine.drain()
        case .outputFinished: machine.outputFinished()
        case .start: _ = machine.startAnswer(.length(1))
        case .finish: _ = machine.finishAnswer()
        case .abort: machine.abortAnswer()
        case .pause: machine.pauseBody()
        case .resume: machine.resumeBody()
        case .closeAfter: machine.closeAfterAnswer()
        case .switchProtocols: _ = machine.switchProtocols()
        case .interim: _ = machine.sendInterim(isContinue: true)
        case .gone: machine.gone()
        case .expectTunnel: machine.expectTunnel()
        }
    }

    /// What each event leads to, in the order of `Event.allCases`; `-` is nothing.
    private static let table: [Standing: [String]] = [
        .idle: [
            "refuse 400", "finish", "close", "close", "arm moment", "-", "-", "-", "close", "-", "-", "-", "-", "-",
            "-", "-",
        ],
        .insideHead: [
            "-", "finish", "refuse 408", "refuse 408", "-", "-", "-", "-", "close", "-", "-", "-", "-", "-", "-", "-",
        ],
        .body: [
            "body cd, end", "drop, respond 400", "drop, respond 408", "drop, respond 408", "-", "-", "-", "-",
            "close", "-", "-", "-", "-", "-", "-", "-",
        ],
        .paused: [
            "-", "-", "arm idle", "arm idle", "-", "-", "-", "-", "close", "-", "-", "-", "-", "-", "-", "-",
        ],
        .answering: [
            "-", "-", "arm idle", "close", "-", "-", "-", "-", "close", "-", "-", "-", "-", "-", "-", "-",
        ],
        .awaitingTunnel: [
            "-", "close", "arm idle", "close", "-", "-", "-", "-", "close", "-", "-", "-", "-", "-", "-", "-",
        ],
        .streaming: [
            "-", "arm moment", "arm idle", "close", "-", "-", "-", "arm idle", "close", "-", "-", "-", "-", "-", "-",
            "-",
        ],
        .answeringBody: [
            "body cd, end", "drop, close", "close", "close", "-", "-", "-", "-", "close", "-", "-", "-", "-", "-",
            "-", "-",
        ],
        .done: [
            "arm idle, arm idle", "finish", "close", "close", "finish", "-", "-", "-", "close", "-", "-", "finish",
            "-", "-", "-", "-",
        ],
        .tunnel: [
            "-", "close", "-", "-", "-", "-", "-", "-", "close", "-", "-", "-", "-", "-", "-", "-",
        ],
        .lingering: [
            "-", "-", "close", "close", "-", "arm moment, close output", "-", "-", "close", "-", "-", "-", "-", "-",
            "-", "-",
        ],
        .outputClosed: [
            "-", "close", "close", "close", "-", "arm moment, close output", "-", "-", "close", "-", "-", "-", "-",
            "-", "-", "-",
        ],
        .closed: [
            "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-",
        ],
    ]

    @Test("Every state answers every event as the table says", arguments: Standing.allCases)
    func rows(standing: Standing) throws {
        let row = try #require(Self.table[standing])
        #expect(row.count == Event.allCases.count)
        for (event, expected) in zip(Event.allCases, row) {
            var machine = Self.machine(standing)
            Self.apply(event, to: &machine)
            let actions = Self.actions(&machine)
            #expect((actions.isEmpty ? "-" : actions.joined(separator: ", ")) == expected, "\(standing), \(event)")
        }
    }

    @Test("A client that has closed its side before its upgrade is passed on waits for no tunnel")
    func leavesBeforeTunnel() {
        var machine = Self.machine(.answering)
        machine.inputClosed()
        let before = Self.actions(&machine)
        machine.expectTunnel()
        let after = Self.actions(&machine)
        #expect(before.isEmpty && after == ["close"])
    }

    @Test("While a request waits, what is behind it is read if it has no body, and not much of it")
    func readingWhilePaused() {
        var machine = Machine(limits: WireLimits(), isStream: false)
        machine.received(ByteBuffer(string: Self.get))
        #expect(machine.next().map(Self.word) == "dispatch /b")
        machine.pauseBody()
        _ = machine.dispatched(hasExchange: true)
        #expect(machine.next() == nil && machine.wantsBytes)
        machine.received(ByteBuffer(repeating: 0x61, count: Machine.maxPipelined))
        #expect(!machine.wantsBytes)
        machine.resumeBody()
        #expect(Self.actions(&machine) == ["end"])
        #expect(!Self.machine(.paused).wantsBytes)
    }

    private static let waiting = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"

    /// The actions that follow bytes.
    private static func actions(_ machine: inout Machine, behind text: String) -> [String] {
        machine.received(ByteBuffer(string: text))
        return actions(&machine)
    }

    @Test("A client that waits for leave gets it once, and not when its answer has begun")
    func hundredContinue() {
        var machine = Machine(limits: WireLimits(), isStream: false)
        let dispatched = Self.actions(&machine, behind: Self.waiting)
        #expect(dispatched == ["dispatch /"])
        // 103 leaves the client waiting.
        let steps = [machine.sendInterim(isContinue: false), machine.sendContinue(), machine.sendContinue()]
        #expect(steps == [true, true, false])
        let terms = machine.startAnswer(.none)
        #expect(terms?.closes == false)
        let isLate = machine.sendInterim(isContinue: true)
        #expect(!isLate)
    }

    @Test("Where a body may follow a refusal or not, only a new connection is safe")
    func refusedBody() {
        var machine = Machine(limits: WireLimits(), isStream: false)
        _ = Self.actions(&machine, behind: Self.waiting)
        let terms = machine.startAnswer(.none)
        #expect(terms?.closes == true)
        let isDone = machine.finishAnswer()
        let actions = Self.actions(&machine)
        #expect(isDone && actions == ["finish"])
    }

    @Test("A stream's request comes taken apart, and ends with its stream")
    func stream() throws {
        var builder = try RequestHeadBuilder(method: "POST", target: "/s")
        try builder.add("Host", "h")
        try builder.add("Content-Length", "4")
        let head = try builder.finish()
        var machine = Machine(limits: WireLimits(), isStream: true)
        machine.received(head: head, isWhole: false)
        machine.received(head: head, isWhole: false)
        let begun = Self.actions(&machine)
        #expect(begun == ["dispatch /s"])
        let given = Self.actions(&machine, behind: Self.get)
        #expect(given == ["body \(Self.get)"], "a body is no head")
        machine.receivedEnd()
        let ended = Self.actions(&machine)
        #expect(ended == ["end"])
        let terms = machine.startAnswer(.length(0))
        #expect(terms?.closes == true)
        _ = machine.finishAnswer()
        let finished = Self.actions(&machine)
        #expect(finished == ["finish"])
        machine.outputFinished()
        let closed = Self.actions(&machine)
        #expect(closed == ["close"])
    }

    @Test("A stream's request that announces no body is whole with its head")
    func wholeStream() throws {
        var builder = try RequestHeadBuilder(method: "POST", target: "/s")
        try builder.add("Host", "h")
        try builder.add("Content-Length", "0")
        var machine = Machine(limits: WireLimits(), isStream: true)
        machine.received(head: try builder.finish(), isWhole: true)
        let actions = Self.actions(&machine)
        #expect(actions == ["dispatch /s", "end"])
    }

    @Test("What arrives at a connection that only waits for its client to close is bounded")
    func lingering() {
        var machine = Self.machine(.outputClosed)
        let block = ByteBuffer(repeating: 1, count: 64 * 1024)
        for number in 0...16 {
            machine.received(block)
            let actions = Self.actions(&machine)
            #expect(actions == (number < 16 ? [] : ["close"]))
        }
    }

    @Test("A gateway that stops sends the last answer to its end before it closes an idle connection")
    func drainedBehindOutput() {
        var machine = Machine(limits: WireLimits(), isStream: false)
        _ = Self.actions(&machine, behind: Self.get)
        _ = machine.startAnswer(.length(1))
        _ = machine.finishAnswer()
        _ = Self.actions(&machine)
        machine.drain()
        let drained = Self.actions(&machine)
        #expect(drained == ["finish"])
        let ignored = Self.actions(&machine, behind: Self.get)
        #expect(ignored.isEmpty, "no request is begun any more")
        machine.outputFinished()
        let closed = Self.actions(&machine)
        #expect(closed == ["close"])
    }

    @Test("A gateway that stops answers the first request of a new connection, and closes one that sends none")
    func drainedBeforeFirstRequest() {
        for parts in [["GET / HTTP/1.1\r\nHost: h\r\n\r\n"], ["GET / HTTP/1.1\r\n", "Host: h\r\n\r\n"]] {
            var machine = Machine(limits: WireLimits(), isStream: false)
            machine.drain()
            let drained = Self.actions(&machine)
            #expect(drained == ["arm moment"])
            for part in parts { machine.received(ByteBuffer(string: part)) }
            let begun = Self.actions(&machine)
            #expect(begun.contains("dispatch /"), "\(begun)")
            let terms = machine.startAnswer(.length(1))
            #expect(terms?.closes == true)
        }
        var silent = Machine(limits: WireLimits(), isStream: false)
        silent.drain()
        _ = Self.actions(&silent)
        silent.deadlinePassed(clientTakes: true)
        let closed = Self.actions(&silent)
        #expect(closed == ["close"])
        // One whose request is on its way is not cut off either.
        var partial = Machine(limits: WireLimits(), isStream: false)
        partial.received(ByteBuffer(string: "GET / HTTP/1.1\r\n"))
        _ = Self.actions(&partial)
        partial.drain()
        partial.received(ByteBuffer(string: "Host: h\r\n\r\n"))
        let whole = Self.actions(&partial)
        #expect(whole.contains("dispatch /"), "\(whole)")
    }

    @Test("A head that begins in the moment after the gateway stops gets the time of a head")
    func drainedInsideHead() {
        for isLate in [false, true] {
            var machine = Machine(limits: WireLimits(), isStream: false)
            if isLate { machine.openedWhileDraining() } else { machine.drain() }
            let moment = Self.actions(&machine)
            #expect(moment == ["arm moment"])
            let begun = Self.actions(&machine, behind: "GET / HTTP/1.1\r\n")
            #expect(begun == ["arm head"])
            let more = Self.actions(&machine, behind: "A: b\r\n")
            #expect(more.isEmpty, "each part of it would get the whole time")
            let whole = Self.actions(&machine, behind: "Host: h\r\n\r\n")
            #expect(whole.contains("dispatch /"), "\(whole)")
            let terms = machine.startAnswer(.length(1))
            #expect(terms?.closes == true)
        }
        var stream = Machine(limits: WireLimits(), isStream: true)
        stream.openedWhileDraining()
        let waiting = Self.actions(&stream)
        #expect(waiting.isEmpty && !stream.isClosed && stream.mustDrain)
    }

    @Test("In any order of events each request is answered once, in order, with its own body", arguments: 0..<40)
    func anyOrder(block: UInt64) {
        for seed in block * 50..<block * 50 + 50 {
            var world = ConnectionWorld(seed: seed)
            let faults = world.run()
            #expect(faults.isEmpty, "seed \(seed): \(faults)")
        }
    }
}
