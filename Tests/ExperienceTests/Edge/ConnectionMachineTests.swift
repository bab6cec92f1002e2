import HTTPWire
import NIOCore
import Testing

@testable import Experience

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
        case idle, insideHead, body, paused, answering, streaming, answeringBody, done, tunnel, lingering, outputClosed
        case closed
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
        case bytes, inputClosed, deadline, deadlineOfSlowReader, drain, outputFinished, start, finish, abort, pause, resume
        case closeAfter, switchProtocols, interim
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
        }
    }

    /// What each event leads to, in the order of `Event.allCases`; `-` is nothing.
    private static let table: [Standing: [String]] = [
        .idle: ["refuse 400|-", "finish", "close", "close", "close", "-", "-", "-", "close", "-", "-", "-", "-", "-"],
    ]

    @Test("Every state answers every event as the table says", arguments: Standing.allCases)
    func rows(standing: Standing) {
        var row: [String] = []
        for event in Event.allCases {
            var machine = Self.machine(standing)
            Self.apply(event, to: &machine)
            let actions = Self.actions(&machine)
            row.append("\(event): " + (actions.isEmpty ? "-" : actions.joined(separator: ", ")))
        }
        print("ROW \(standing) \(row)")
    }
}
