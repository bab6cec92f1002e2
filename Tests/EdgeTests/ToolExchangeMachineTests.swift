import AgentTools
import Answers
import Leases
import NIOCore
import Testing

@testable import Edge

/// A request to the tools without a channel and without a Runtime: every event in every state.
@Suite struct ToolExchangeMachineTests {
    private typealias Machine = ToolExchangeMachine

    /// The states, each as what leads to it.
    enum Standing: String, CaseIterable {
        case collecting, deciding, opening, call, listening, over
    }

    private static func machine(_ standing: Standing) -> Machine {
        var machine = Machine()
        if standing == .collecting { return machine }
        _ = machine.receivedEnd(isUnreadable: false, isRevoked: false)
        if standing == .deciding { return machine }
        _ = machine.decidedToStream(isRevoked: false)
        if standing == .opening { return machine }
        _ = machine.opened(hasPlace: true, end: nil, listens: standing == .listening)
        if standing == .over { _ = machine.clientGone() }
        return machine
    }

    enum Event: String, CaseIterable {
        case part, tooLong, end, unreadable, endRevoked, answered, streams, revoked, fault, problem
        case opened, noPlace, endedBefore, streamEnded, deadline, stop, leaseEnded, gone
    }

    private static func apply(_ event: Event, to machine: inout Machine) -> Machine.Action? {
        switch event {
        case .part: machine.received(ByteBuffer(string: "{}"))
        case .tooLong: machine.received(ByteBuffer(repeating: 0x20, count: 64 * 1024 + 1))
        case .end: machine.receivedEnd(isUnreadable: false, isRevoked: false)
        case .unreadable: machine.receivedEnd(isUnreadable: true, isRevoked: true)
        case .endRevoked: machine.receivedEnd(isUnreadable: false, isRevoked: true)
        case .answered: machine.decided(status: 202, session: nil, body: nil, isRevoked: false)
        case .streams: machine.decidedToStream(isRevoked: false)
        case .revoked: machine.decidedToStream(isRevoked: true)
        case .fault: machine.decided(RPCFault(.invalidRequest, "No."), .single)
        case .problem: machine.decided(Problem(.storeUnavailable))
        case .opened: machine.opened(hasPlace: true, end: nil, listens: true)
        case .noPlace: machine.opened(hasPlace: false, end: .sessionEnded, listens: true)
        case .endedBefore: machine.opened(hasPlace: true, end: .sessionEnded, listens: true)
        case .streamEnded: machine.streamEnded()
        case .deadline: machine.deadlinePassed()
        case .stop: machine.gatewayStops()
        case .leaseEnded: machine.leaseEnded()
        case .gone: machine.clientGone()
        }
    }

    private static func word(_ action: Machine.Action?) -> String {
        switch action {
        case nil: "-"
        case .decide(let body)?: "decide \(body.count)"
        case .open?: "open"
        case .comment?: "comment"
        case .answer(let status, _, _)?: "answer \(status)"
        case .refuse(let problem, let closes)?: "\(problem.status)\(closes ? " closing" : "")"
        case .finish?: "finish"
        case .abort?: "abort"
        case .release?: "release"
        }
    }

    /// What each event leads to, in the order of `Event.allCases`; `-` is nothing.
    private static let table: [Standing: [String]] = [
        .collecting: [
            "-", "413 closing", "decide 0", "415", "401", "-", "-", "-", "-", "-", "-", "-", "-", "-", "408 closing",
            "-", "abort", "release",
        ],
        .deciding: [
            "-", "-", "-", "-", "-", "answer 202", "open", "401", "answer 400", "503", "-", "-", "-", "-", "-", "-",
            "abort", "release",
        ],
        .opening: [
            "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "429", "403", "-", "-", "-", "abort", "release",
        ],
        .call: [
            "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "finish", "comment", "-", "abort",
            "release",
        ],
        .listening: [
            "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "finish", "comment", "finish", "abort",
            "release",
        ],
        .over: [
            "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-",
        ],
    ]

    @Test("Every state answers every event as the table says", arguments: Standing.allCases)
    func rows(standing: Standing) throws {
        let row = try #require(Self.table[standing])
        #expect(row.count == Event.allCases.count)
        for (event, expected) in zip(Event.allCases, row) {
            var machine = Self.machine(standing)
            let found = Self.word(Self.apply(event, to: &machine))
            #expect(found == expected, "\(standing), \(event)")
        }
    }

    @Test("The body is given whole, up to its limit")
    func body() {
        var machine = Machine()
        for part in ["{\"a\"", ":1}"] { _ = machine.received(ByteBuffer(string: part)) }
        guard case .decide(let body)? = machine.receivedEnd(isUnreadable: false, isRevoked: false) else {
            Issue.record("not decided")
            return
        }
        #expect(body == Array("{\"a\":1}".utf8))
        var full = Machine()
        let parts = [
            full.received(ByteBuffer(repeating: 0x20, count: 64 * 1024)), full.received(ByteBuffer(string: " ")),
        ]
        #expect(parts.map(Self.word) == ["-", "413 closing"])
    }

    @Test("After its end an exchange does nothing more, however it ended")
    func ends() {
        for end in [Event.streamEnded, .stop, .leaseEnded, .gone] {
            var machine = Self.machine(.listening)
            _ = Self.apply(end, to: &machine)
            for event in Event.allCases {
                let action = Self.word(Self.apply(event, to: &machine))
                #expect(action == "-", "\(end), \(event)")
            }
        }
    }

    @Test("The Runtime is told of every event once, when the client takes bytes")
    func reports() {
        var machine = Self.machine(.opening)
        machine.tookEvent()
        var told = [machine.clientBecameWritable()]
        _ = machine.opened(hasPlace: true, end: nil, listens: true)
        machine.tookEvent()
        machine.tookEvent()
        told += [machine.clientBecameWritable(), machine.clientBecameWritable()]
        machine.tookEvent()
        _ = machine.streamEnded()
        told.append(machine.clientBecameWritable())
        #expect(told == [0, 2, 0, 0])
    }
}
