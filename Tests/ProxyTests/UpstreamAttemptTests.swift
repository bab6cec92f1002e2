import HTTPWire
import NIOCore
import Testing

@testable import Proxy

/// An attempt to have a request answered, without connections.
@Suite struct UpstreamAttemptTests {
    private enum State: CaseIterable { case created, connecting, fresh, pooled, bodySent, begun, answering, held, done }
    private enum Event: CaseIterable {
        case start, connected, failed, closed, body, endClean, endUnclean, hold, letGo, handOver
    }

    private static let fault = UpstreamFault(reason: "refused", cause: "")
    private static let head = "HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n"

    /// An attempt, and what it has asked for since it was last looked at, one word for each action.
    private struct Attempt {
        var machine: UpstreamAttempt

        init(isRepeatable: Bool = true) {
            machine = UpstreamAttempt(
                UpstreamAttempt.Terms(
                    framing: .chunked, reuse: isRepeatable ? .any : .recent, isRepeatable: isRepeatable))
        }

        mutating func act() -> [String] {
            var words: [String] = []
            while let action = machine.next() { words.append(Self.word(action)) }
            return words
        }

        private static func word(_ action: UpstreamAttempt.Action) -> String {
            switch action {
            case .connect(let reuse, let tried, let isRetry):
                "\(isRetry ? "retry" : "connect") \(reuse) \(tried.sorted())"
            case .send(.sendHead): "head"
            case .send(.sendBody(let part)): String(buffer: part)
            case .send(.sendEnd): "end"
            case .send(.flush): "flush"
            case .release(let reuse): reuse ? "reuse" : "release"
            case .report(let fault, let member): "report \(fault.reason) \(member)"
            }
        }

        static func at(_ state: State, isRepeatable: Bool = true) -> Attempt {
            var attempt = Attempt(isRepeatable: isRepeatable)
            if state == .created { return attempt }
            attempt.machine.start()
            _ = attempt.act()
            if state == .connecting { return attempt }
            attempt.machine.connected(to: 3, isPooled: state == .pooled)
            _ = attempt.act()
            switch state {
            case .created, .connecting, .fresh, .pooled: break
            case .bodySent: attempt.machine.unsent.add(ByteBuffer(string: "body"))
            case .begun: attempt.machine.answer.received(ByteBuffer(string: "HTTP"))
            case .answering:
                attempt.machine.answer.received(ByteBuffer(string: UpstreamAttemptTests.head))
                _ = attempt.machine.answer.next(takesBody: true)
            case .held: attempt.machine.hold()
            case .done: attempt.machine.end(reuse: true)
            }
            _ = attempt.act()
            return attempt
        }

        /// - Returns: what `closed` returned.
        mutating func happens(_ event: Event) -> String? {
            switch event {
            case .start: machine.start()
            case .connected: machine.connected(to: 4, isPooled: false)
            case .failed: machine.failedToConnect(to: 1, UpstreamAttemptTests.fault)
            case .closed: return machine.closed(UpstreamFault(closedBy: nil), isBroken: false)
            case .body: machine.unsent.add(ByteBuffer(string: "more"))
            case .endClean: machine.end(reuse: true)
            case .endUnclean: machine.end(reuse: false)
            case .hold: machine.hold()
            case .letGo: machine.letGo()
            case .handOver: _ = machine.handOver()
            }
            return nil
        }
    }

    private static func expected(_ state: State, _ event: Event) -> [String] {
        let isOpen = ![.created, .connecting, .held, .done].contains(state)
        switch (state, event) {
        case (.created, .start): return ["connect any []"]
        case (.connecting, .connected): return ["head", "flush"]
        case (.connecting, .failed): return ["report refused 1", "retry none [1]"]
        // A failure is reported in every state of the attempt.
        case (_, .failed): return ["report refused 1"]
        case (.fresh, .closed): return ["report upstream_closed 3", "release", "retry none []"]
        case (.pooled, .closed): return ["release", "retry none []"]
        case (.bodySent, .closed), (.begun, .closed): return ["report upstream_closed 3", "release"]
        case (.answering, .closed): return ["release"]
        case (.held, .letGo), (.held, .endClean), (.held, .endUnclean): return ["release"]
        case (_, .hold), (_, .letGo): return []
        case (_, .body): return isOpen ? ["more", "flush"] : []
        case (_, .endClean): return isOpen ? ["reuse"] : []
        case (_, .endUnclean): return isOpen ? ["release"] : []
        case (_, .start), (_, .connected), (_, .closed), (_, .handOver): return []
        }
    }

    @Test("Every event in every state", arguments: State.allCases, Event.allCases)
    private func table(state: State, event: Event) {
        var attempt = Attempt.at(state)
        let failure = attempt.happens(event)
        #expect(attempt.act() == Self.expected(state, event))
        let isFinal = event == .closed && (state == .bodySent || state == .begun)
        #expect(failure == (isFinal ? "upstream_closed" : nil))
        if event == .handOver { #expect(!attempt.machine.isOpen && !attempt.machine.isConnecting) }
    }

    @Test("A request is sent again once, and only where it may be", arguments: [true, false])
    func retries(isRepeatable: Bool) {
        var attempt = Attempt.at(.pooled, isRepeatable: isRepeatable)
        var failure = attempt.happens(.closed)
        #expect((failure == nil) == isRepeatable)
        guard isRepeatable else { return #expect(attempt.act() == ["report upstream_closed 3", "release"]) }
        #expect(attempt.act() == ["release", "retry none []"] && attempt.machine.isConnecting)
        _ = attempt.happens(.connected)
        #expect(attempt.act() == ["head", "flush"])
        failure = attempt.happens(.closed)
        #expect(failure == "upstream_closed")
        #expect(attempt.act() == ["report upstream_closed 4", "release"])
    }

    @Test("A body that has waited is sent behind its head, with its last chunk when the client has sent all")
    func unsent() {
        var attempt = Attempt.at(.connecting)
        _ = attempt.happens(.body)
        #expect(attempt.act().isEmpty && attempt.machine.unsent.heldBytes == 4)
        _ = attempt.happens(.connected)
        #expect(attempt.act() == ["head", "more", "flush"] && attempt.machine.unsent.heldBytes == 0)
        #expect(!attempt.machine.unsent.isSent)
        attempt.machine.unsent.complete()
        #expect(attempt.act() == ["end", "flush"] && attempt.machine.unsent.isSent)
    }

    @Test("The last fault of those that could not be reached says why none could")
    func failure() {
        var attempt = Attempt.at(.connecting)
        #expect(attempt.machine.connectFailure == "no_upstream_reachable")
        _ = attempt.happens(.failed)
        #expect(attempt.machine.connectFailure == "refused")
    }
}
