import Answers
import EdgeCore
import HTTPWire
import NIOCore
import Testing

@testable import Edge

/// A client's connection without a channel: every event in every state, and what has to hold in any order of them.
@Suite struct ConnectionMachineTests {
    typealias Machine = ConnectionMachine

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

    static func actions(_ machine: inout Machine) -> [String] {
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
    static let get = "GET /b HTTP/1.1\r\nHost: h\r\n\r\n"

    static func machine(_ standing: Standing) -> Machine {
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
            "body cd, end", "drop, close", "close", "close", "-", "-", "-", "arm idle", "close", "-", "-", "-", "-",
            "-", "-", "-",
        ],
        .done: [
            "arm idle", "finish", "close", "close", "finish", "-", "-", "-", "close", "-", "-", "finish",
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
            "-", "close", "close", "close", "-", "-", "-", "-", "close", "-", "-", "-", "-",
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

    @Test("What is left of a body behind its answer has one time limit, however it comes")
    func dripBehindAnswer() {
        var machine = Machine(limits: WireLimits(), isStream: false)
        let head = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n"
        _ = Self.actions(&machine, behind: head)
        _ = machine.startAnswer(.none)
        _ = machine.finishAnswer()
        let afterAnswer = Self.actions(&machine)
        let afterBytes = Self.actions(&machine, behind: "a") + Self.actions(&machine, behind: "b")
        #expect(afterAnswer == ["arm idle"] && afterBytes.isEmpty)
        machine.deadlinePassed(clientTakes: true)
        let afterDeadline = Self.actions(&machine)
        #expect(afterDeadline == ["close"])
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

    static let waiting = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"

    /// The actions that follow bytes.
    static func actions(_ machine: inout Machine, behind text: String) -> [String] {
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

    @Test("In any order of events each request is answered once, in order, with its own body", arguments: 0..<40)
    func anyOrder(block: UInt64) {
        for seed in block * 50..<block * 50 + 50 {
            var world = ConnectionWorld(seed: seed)
            let faults = world.run()
            #expect(faults.isEmpty, "seed \(seed): \(faults)")
        }
    }
}
