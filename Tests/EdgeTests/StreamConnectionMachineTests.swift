import EdgeCore
import HTTPWire
import NIOCore
import Testing

@testable import Edge

/// The machine of a connection as that of one HTTP/2 stream: every event in every state.
@Suite struct StreamConnectionMachineTests {
    private typealias Machine = ConnectionMachine

    /// The states, each as what leads to it.
    enum Standing: String, CaseIterable {
        case new, body, whole, paused, awaitingTunnel, streaming, done, tunnel, lingering, outputClosed, refused, closed
    }

    private static func head(hasBody: Bool) throws -> RequestHead {
        var builder = try RequestHeadBuilder(method: "POST", target: "/s")
        try builder.add("Host", "h")
        if hasBody { try builder.add("Transfer-Encoding", "chunked") }
        return try builder.finish()
    }

    private static func machine(_ standing: Standing) throws -> Machine {
        var machine = Machine(limits: WireLimits(), isStream: true)
        func begin(hasBody: Bool) throws {
            machine.received(head: try head(hasBody: hasBody), isWhole: !hasBody)
            _ = ConnectionMachineTests.actions(&machine)
        }
        func answer(_ framing: ResponseFraming) {
            _ = machine.startAnswer(framing)
            _ = machine.finishAnswer()
            _ = ConnectionMachineTests.actions(&machine)
        }
        switch standing {
        case .new: break
        case .body: try begin(hasBody: true)
        case .whole: try begin(hasBody: false)
        case .paused:
            try begin(hasBody: true)
            machine.pauseBody()
        case .awaitingTunnel:
            try begin(hasBody: false)
            machine.expectTunnel()
        case .streaming:
            try begin(hasBody: false)
            _ = machine.startAnswer(.stream)
        case .done:
            // The answer is complete before its request is, and lets go of the rest.
            try begin(hasBody: true)
            answer(.none)
        case .tunnel:
            try begin(hasBody: false)
            _ = machine.switchProtocols()
        case .lingering, .outputClosed:
            try begin(hasBody: true)
            answer(.length(1))
            if standing == .outputClosed {
                machine.outputFinished()
                _ = ConnectionMachineTests.actions(&machine)
            }
        case .refused:
            machine.receivedUnreadableHead(nil, isHead: false)
            _ = ConnectionMachineTests.actions(&machine)
        case .closed: machine.gone()
        }
        return machine
    }

    enum Event: String, CaseIterable {
        case head, unreadableHead, bytes, end, faultyEnd, inputClosed, deadline, drain, openedWhileDraining
        case outputFinished, start, finish, gone
    }

    private static func apply(_ event: Event, to machine: inout Machine) throws {
        switch event {
        case .head: machine.received(head: try head(hasBody: false), isWhole: true)
        case .unreadableHead: machine.receivedUnreadableHead(WireError(.headTooLong, ""), isHead: false)
        case .bytes: machine.received(ByteBuffer(string: "ab"))
        case .end: machine.receivedEnd()
        case .faultyEnd: machine.receivedEnd(WireError(.trailer, ""))
        case .inputClosed: machine.inputClosed()
        case .deadline: machine.deadlinePassed(clientTakes: true)
        case .drain: machine.drain()
        case .openedWhileDraining: machine.openedWhileDraining()
        case .outputFinished: machine.outputFinished()
        case .start: _ = machine.startAnswer(.length(1))
        case .finish: _ = machine.finishAnswer()
        case .gone: machine.gone()
        }
    }

    /// What each event leads to, in the order of `Event.allCases`; `-` is nothing.
    private static let table: [Standing: [String]] = [
        .new: [
            "dispatch /s, end", "refuse 431", "-", "-", "-", "-", "close", "close", "-", "-", "-", "-", "-",
        ],
        .body: [
            "-", "-", "body ab", "end", "drop, respond 400", "drop, respond 400", "drop, respond 408", "-", "-", "-",
            "-", "-", "-",
        ],
        .whole: ["-", "-", "-", "-", "-", "-", "arm idle", "-", "-", "-", "-", "-", "-"],
        .paused: ["-", "-", "-", "-", "-", "-", "arm idle", "-", "-", "-", "-", "-", "-"],
        .awaitingTunnel: ["-", "-", "-", "-", "-", "close", "arm idle", "-", "-", "-", "-", "-", "-"],
        .streaming: ["-", "-", "-", "-", "-", "arm moment", "arm idle", "-", "-", "-", "-", "finish", "-"],
        .done: ["-", "-", "-", "-", "-", "-", "close", "-", "-", "arm moment", "-", "-", "-"],
        .tunnel: ["-", "-", "-", "-", "-", "close", "-", "-", "-", "-", "-", "-", "-"],
        .lingering: ["-", "-", "-", "-", "-", "-", "close", "-", "-", "arm moment", "-", "-", "-"],
        .outputClosed: ["-", "-", "-", "close", "close", "close", "close", "-", "-", "-", "-", "-", "-"],
        .refused: ["-", "-", "-", "-", "-", "-", "arm idle", "-", "-", "-", "-", "-", "-"],
        .closed: ["-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-"],
    ]

    @Test("Every state answers every event as the table says", arguments: Standing.allCases)
    func rows(standing: Standing) throws {
        let row = try #require(Self.table[standing])
        #expect(row.count == Event.allCases.count)
        for (event, expected) in zip(Event.allCases, row) {
            var machine = try Self.machine(standing)
            try Self.apply(event, to: &machine)
            let actions = ConnectionMachineTests.actions(&machine)
            #expect((actions.isEmpty ? "-" : actions.joined(separator: ", ")) == expected, "\(standing), \(event)")
        }
    }
}
