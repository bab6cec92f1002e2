import NIOCore
import Testing

@testable import Proxy

/// A connection to an upstream without a channel.
@Suite struct UpstreamConnectionMachineTests {
    private typealias Machine = UpstreamConnectionMachine
    private enum State: CaseIterable { case idle, lent, asking, asked, told, closed }
    private enum Event: CaseIterable { case lend, release, flush, flushed, received, close, failed, closed }

    private static func machine(in state: State) -> Machine {
        var machine = Machine()
        if state == .closed { machine.close() }
        if state == .idle || state == .closed { return machine }
        machine.lend()
        if state == .lent { return machine }
        _ = machine.flush()
        if state == .asking { return machine }
        machine.flushed()
        if state == .told { _ = machine.closed() }
        return machine
    }

    /// What an event leads to, in a word, or nothing.
    private static func apply(_ event: Event, to machine: inout Machine) -> String {
        switch event {
        case .lend: machine.lend()
        case .release: return machine.release() ? "released" : ""
        case .flush: return machine.flush() ? "queue" : ""
        case .flushed: machine.flushed()
        case .received: return "\(machine.received())"
        case .close: machine.close()
        case .failed: machine.failed(ChannelError.eof)
        case .closed: return "\(machine.closed())"
        }
        return ""
    }

    /// The word, and who has the connection afterwards.
    private static func expected(_ state: State, _ event: Event) -> (word: String, use: Machine.Use) {
        let use: Machine.Use =
            switch state {
            case .idle, .closed: .idle
            case .lent: .lent
            case .asking: .asking
            case .asked: .asked
            case .told: .told
            }
        return switch (state, event) {
        case (.idle, .lend), (.closed, .lend): ("", .lent)
        case (.idle, .release), (.closed, .release): ("", .idle)
        case (_, .release): ("released", .idle)
        case (.lent, .flush): ("queue", .asking)
        // A flush is already waiting.
        case (.asking, .flush): ("", .asking)
        case (_, .flush): ("queue", use)
        case (.asking, .flushed): ("", .asked)
        case (.idle, .received), (.closed, .received): ("closeIdle", .idle)
        case (.lent, .received), (.asking, .received): ("closeLent", .told)
        case (.asked, .received): ("give", .asked)
        case (.told, .received): ("drop", .told)
        case (.idle, .closed), (.closed, .closed): ("forget", .idle)
        case (.told, .closed): ("none", .told)
        case (_, .closed): ("tellUser", .told)
        case (_, .lend), (_, .flushed), (_, .close), (_, .failed): ("", use)
        }
    }

    @Test("Every event in every state", arguments: State.allCases, Event.allCases)
    private func table(state: State, event: Event) {
        var machine = Self.machine(in: state)
        let wasOpen = machine.isOpen
        let word = Self.apply(event, to: &machine)
        let expected = Self.expected(state, event)
        #expect(word == expected.word && machine.use == expected.use)
        #expect(machine.isOpen == (wasOpen && ![.close, .failed, .closed].contains(event)))
        #expect((machine.fault != nil) == (event == .failed))
    }

    @Test("The flush of the exchange before sends nothing of the next, whose bytes come after its own flush")
    func flushOfTheOneBefore() {
        var machine = Self.machine(in: .asking)
        let isReleased = machine.release()
        #expect(isReleased)
        machine.lend()
        machine.flushed()
        #expect(machine.use == .lent)
        let isAsking = machine.flush()
        #expect(isAsking)
        machine.flushed()
        #expect(machine.use == .asked)
    }

    @Test("The first fault counts, and a close in order does not hide it")
    func fault() {
        var machine = Self.machine(in: .asked)
        machine.failed(ChannelError.eof)
        machine.failed(ChannelError.alreadyClosed)
        _ = machine.closed()
        #expect(machine.fault as? ChannelError == .eof && !machine.isOpen)
    }
}
