import Answers
import HTTPWire
import NIOCore
import Proxy

/// An upgrade's handshake with an upstream as a value: it is told of events, and ``next(clientTakes:)`` gives the one
/// action that is due, until none is.
///
/// The client gets its `101` only after the upstream's has passed the gateway's checks. Any other answer is passed on
/// whole, or aborted so that the client can see it is incomplete. A fault found before any part of the answer was
/// passed on is a 502. The connection is never reused: it becomes the socket's, or it is closed.
struct RelayMachine {
    /// What is known of the request and its connection beforehand.
    struct Terms {
        /// The client's request. The upstream may only choose from its offers.
        var request: RequestHead
        /// `Sec-WebSocket-Accept` as the client's key demands it.
        var accept: String
        /// Whether field values for the client may be any bytes; over HTTP/2 they have to be text.
        var takesAnyBytes: Bool
        /// Whether any 2xx would tell the client that its upgrade was accepted, as over HTTP/2 (RFC 8441 section 5).
        var opensTunnelOnSuccess: Bool
    }

    /// What the exchange has to do. Each action is asked for once.
    enum Action {
        /// An action for the upstream's connection.
        case upstream(UpstreamAttempt.Action)
        /// The head of the final answer has arrived and may be passed on. Tell ``admissionEnded(_:)`` where what
        /// admitted the upgrade is over: no part of the answer is passed on then.
        case answered(status: Int)
        /// Pass on the head of an answer other than `101`.
        indirect case startAnswer(ResponseHead)
        /// Pass on a part of its body.
        case sendAnswer(ByteBuffer)
        /// Send what was passed on: there is no more of it now.
        case flushAnswer
        /// Take a lease: the answer goes on for longer, and must be ended when the socket would have been.
        case takeLease
        /// Give back deadline, lease and the socket's reservation: no socket follows.
        case settle
        /// Cancel the deadline, send `101` to the client and join the two connections, which get lease and reservation;
        /// `early` is what came after the upstream's head.
        indirect case open(ResponseHead, early: ByteBuffer)
        /// Complete the answer.
        case finishAnswer
        /// End the client's connection, or its stream of HTTP/2, without completing the answer, so that it can see the
        /// loss.
        case abortAnswer
        /// Answer with a problem. No part of the upstream's answer has been passed on.
        indirect case respond(Problem)
    }

    private enum Phase {
        case created
        case running
        /// The head may be passed on, unless ``admissionEnded(_:)`` is told. With a `101`, the socket `opens`.
        case answered(opens: Bool)
        /// Deadline, lease and reservation are to be given back.
        case ending(Ending)
        /// They were, and the client is to see how it ends.
        case settled(Ending)
        case over
    }

    // What is large is indirect, so that copying the machine's phase costs little.
    private enum Ending {
        case complete
        indirect case fail(Problem)
        case abort
        case gone
    }

    private let terms: Terms
    private var phase = Phase.created
    private var attempt = UpstreamAttempt(
        UpstreamAttempt.Terms(framing: .none, reuse: .none, isRepeatable: false, expectsSwitch: true))
    private var flow = AnswerFlow()

    init(_ terms: Terms) { self.terms = terms }

    private var isRunning: Bool {
        switch phase {
        case .running, .answered: true
        case .created, .ending, .settled, .over: false
        }
    }

    // MARK: Events

    /// Asks for a connection. Further calls do nothing.
    mutating func start() {
        guard case .created = phase else { return }
        phase = .running
        attempt.start()
    }

    /// There is a new connection: the head is due.
    mutating func connected(to member: Int) { attempt.connected(to: member, isPooled: false) }

    mutating func failedToConnect(to member: Int, _ fault: UpstreamFault) {
        attempt.failedToConnect(to: member, fault)
    }

    /// No upstream can be reached.
    mutating func noUpstreamLeft() {
        guard attempt.isConnecting else { return }
        fail(attempt.connectFailure)
    }

    /// Every upstream has as many requests or connections as it may have.
    mutating func upstreamsAreFull() {
        guard attempt.isConnecting else { return }
        end(.fail(Problem(.overloaded, reason: UpstreamFault.full)))
    }

    /// Bytes of the upstream, cut anywhere; dropped once the machine has ended.
    mutating func upstreamReceived(_ bytes: ByteBuffer) {
        if isRunning { attempt.answer.received(bytes) }
    }

    /// A burst of the upstream's bytes is over.
    mutating func upstreamReceivedAll() { attempt.answer.receivedAll() }

    /// The upstream closed its side or failed.
    mutating func upstreamClosed(_ fault: UpstreamFault, isBroken: Bool) {
        guard isRunning, let reason = attempt.closed(fault, isBroken: isBroken) else { return }
        fail(reason)
    }

    /// The client has gone: no answer is possible, and the upstream's connection is closed.
    mutating func clientGone() { end(.gone) }

    /// What admitted the upgrade has ended. No part of an answer has been passed on.
    mutating func admissionEnded(_ refusal: Problem) { end(.fail(refusal)) }

    /// There is a lease now. An event stream may then be silent without a time limit.
    mutating func leaseTaken() { flow.isLeaseHeld = true }

    /// The lease is over: an answer that has begun is aborted, and in the place of one that has not, the client gets
    /// the refusal.
    mutating func leaseEnded(_ refusal: Problem) {
        flow.isLeaseHeld = false
        end(flow.hasStarted ? .abort : .fail(refusal))
    }

    /// The time limit has passed. Returns whether it is to be set again, where another limit ends the answer.
    mutating func deadlinePassed(clientTakes: Bool) -> Bool {
        guard isRunning else { return false }
        if attempt.isConnecting {
            end(.fail(Problem(.upstreamTimeout, reason: UpstreamFault.connectTimeout.reason)))
        } else if flow.hasStarted {
            // A client that is slow to read has a time limit of its own; and a stream under a lease may be silent.
            if !clientTakes || flow.mayBeSilent { return true }
            end(.abort)
        } else {
            attempt.recordFault(.answerTimeout)
            end(.fail(Problem(.upstreamTimeout, reason: UpstreamFault.answerTimeout.reason)))
        }
        return false
    }

    // MARK: Questions

    /// Whether the machine still waits for a connection.
    var isConnecting: Bool { attempt.isConnecting }

    /// Whether more bytes of the upstream can be processed now.
    func wantsUpstreamBytes(clientTakes: Bool) -> Bool {
        guard isRunning, attempt.answer.hasStarted else { return true }
        return clientTakes && !attempt.answer.holdsPart
    }

    // MARK: Actions

    /// Takes in an event; the first action that follows from it.
    mutating func next(after event: (inout RelayMachine) -> Void, clientTakes: Bool) -> Action? {
        event(&self)
        return next(clientTakes: clientTakes)
    }

    /// The next action; nil when the machine waits for an event.
    ///
    /// - Parameter clientTakes: whether the client's channel takes bytes; the answer's body waits where it does not.
    mutating func next(clientTakes: Bool) -> Action? {
        if let action = attempt.next() { return .upstream(action) }
        switch phase {
        case .created, .over: return nil
        case .running: return attempt.isConnecting ? nil : nextOfAnswer(clientTakes)
        case .answered(let opens): return passOn(opens: opens, clientTakes)
        case .ending(let ending):
            phase = .settled(ending)
            return .settle
        case .settled(let ending):
            phase = .over
            switch ending {
            case .complete: return .finishAnswer
            case .fail(let problem): return .respond(problem)
            case .abort: return .abortAnswer
            case .gone: return nil
            }
        }
    }

    private mutating func nextOfAnswer(_ clientTakes: Bool) -> Action? {
        switch attempt.answer.next(takesBody: clientTakes) {
        case .switched(let head):
            if let reason = faultOfSwitch(head) {
                fail(reason)
            } else {
                phase = .answered(opens: true)
                return .answered(status: head.status)
            }
        // Interim answers to an upgrade are not passed on.
        case .interim: break
        case .start(let head):
            if let reason = faultOfRefusal(head) {
                fail(reason)
            } else {
                flow.expects(isStream: ResponseFilter.isEventStream(head))
                phase = .answered(opens: false)
                return .answered(status: head.status)
            }
        case .part(let part):
            flow.passedPart()
            return .sendAnswer(part)
        case .wait: return nextOfPause(clientTakes)
        case .end: end(.complete)
        case .cut where attempt.answer.hasStarted, .malformed where attempt.answer.hasStarted: end(.abort)
        case .cut: fail("upstream_closed")
        case .malformed:
            attempt.recordFault(.malformed)
            fail(UpstreamFault.malformed.reason)
        case .unexpected: fail("interim_flood")
        }
        return next(clientTakes: clientTakes)
    }

    /// The head goes to the client.
    private mutating func passOn(opens: Bool, _ clientTakes: Bool) -> Action? {
        guard let head = attempt.answer.head, attempt.isOpen || !opens else {
            fail("upstream_closed")
            return next(clientTakes: clientTakes)
        }
        if opens {
            phase = .over
            return .open(head, early: attempt.handOver())
        }
        phase = .running
        flow.started()
        return .startAnswer(head)
    }

    /// The action that is due while no more of an unfinished answer can be passed on.
    private mutating func nextOfPause(_ clientTakes: Bool) -> Action? {
        guard attempt.answer.hasStarted, attempt.answer.isBurstOver || !clientTakes else { return nil }
        switch flow.nextOfPause() {
        case .takeLease: return .takeLease
        case .flush: return .flushAnswer
        case nil: return nil
        }
    }

    /// Why a `101` can't be passed on; nil when it can.
    private func faultOfSwitch(_ head: ResponseHead) -> String? {
        if let fault = WebSocketHandshake.faultOfAnswer(head, to: terms.request, accept: terms.accept) {
            return "upstream_upgrade: \(fault)"
        }
        return canPassOn(head) ? nil : "upstream_answer_not_utf8"
    }

    /// Why an answer other than `101` can't be passed on; nil when it can.
    private func faultOfRefusal(_ head: ResponseHead) -> String? {
        if terms.opensTunnelOnSuccess, head.status < 300 { return "upstream_upgrade: \(head.status)" }
        return canPassOn(head) ? nil : "upstream_answer_not_utf8"
    }

    private func canPassOn(_ head: ResponseHead) -> Bool {
        terms.takesAnyBytes || ResponseFilter.isText(head)
    }

    private mutating func end(_ ending: Ending) {
        switch phase {
        case .created, .running, .answered:
            phase = .ending(ending)
            attempt.end(reuse: false)
        case .ending, .settled, .over: break
        }
    }

    private mutating func fail(_ reason: String) { end(.fail(Problem(.upstreamUnavailable, reason: reason))) }
}
