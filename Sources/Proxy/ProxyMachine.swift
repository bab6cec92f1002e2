import Answers
import HTTPWire
import NIOCore

/// One exchange with an upstream as a value: it is told of events, and ``next(clientTakes:upstreamTakes:)`` gives the
/// one action that is due, until none is.
///
/// In any order of events no byte is lost or added: the upstream gets exactly the body that the client sent, or the
/// connection to it is closed; the client gets exactly the answer that the upstream gave, or can see that it is
/// incomplete. A connection is offered for reuse only after an exchange whose request and answer were both complete.
///
/// Events only change the state. An action may cause further events before the next action is asked for: a piece of the
/// body that arrives while the upstream is being written to waits in ``UnsentRequest`` for its turn.
struct ProxyMachine {
    /// What is known of the request and its route beforehand.
    struct Terms {
        /// How the request's body is framed, towards the upstream as from the client.
        var framing: BodyFraming
        var method: RequestMethod
        /// The most bytes a body may have; nil for no limit.
        var maxBody: Int64?
        /// Whether a lease's expiry ends every answer early, and not only event streams.
        var isLeased: Bool
        /// Whether the head of the answer is judged before it is passed on.
        var isJudged = false
        /// Whether field values for the client may be any bytes; over HTTP/2 they have to be text.
        var takesAnyBytes = true
    }

    /// What the exchange has to do. Each action is asked for once, in the order in which it has to be done.
    enum Action {
        /// An action for the upstream's connection.
        case upstream(UpstreamAttempt.Action)
        /// Stop the flow of the request's body.
        case pauseBody
        /// Let it flow again.
        case resumeBody
        /// Pass on a 1xx answer other than 101.
        case sendInterim(ResponseHead)
        /// The head of the final answer has arrived. Tell ``admissionEnded(_:)`` where what admitted the request is
        /// over: no part of the answer is passed on then.
        case answered(status: Int)
        /// Judge the head, and tell the result with ``answerJudged(_:)``.
        case judgeAnswer(ResponseHead)
        /// Pass on the head of the final answer, without `Content-Length` unless `keepsLength`.
        case startAnswer(ResponseHead, keepsLength: Bool)
        /// Pass on a part of the body, at most 64 KiB.
        case sendAnswer(ByteBuffer)
        /// Send what was passed on: there is no more of it now.
        case flushAnswer
        /// Take a lease: the answer goes on for longer, and it must be possible to end it early.
        case takeLease
        /// Give back deadline and lease.
        case settle
        /// Complete the answer.
        case finishAnswer
        /// End the client's connection, or its stream of HTTP/2, without completing the answer.
        case abortAnswer
        /// Show the client that the answer ends here, and leave its connection open until ``settle()``. Tell
        /// ``cannotCut()`` where that can't be done.
        case cutAnswer
        /// Answer with a problem. No part of the upstream's answer has been passed on.
        case respond(Problem)
    }

    // What is large is indirect, so that copying the machine's phase costs little.
    enum Phase {
        case created
        case running
        /// The head of the final answer has arrived.
        indirect case answered(ResponseHead)
        /// A stream's lease has been asked for, which is looked at first; the head is to be judged.
        indirect case leased(ResponseHead)
        /// The answer's head is being judged.
        indirect case judging(ResponseHead)
        /// It was judged and may be passed on.
        indirect case judged(ResponseHead)
        /// Deadline and lease are to be given back.
        case ending(Ending)
        /// They were, and the client is to see how it ends.
        case settled(Ending)
        /// The lease has ended the answer: the client can see that, and its connection is still open.
        case cut
        case over
    }

    enum Ending {
        case complete
        indirect case fail(Problem)
        case abort
        case cut
        case gone
    }

    /// The most bytes of a body that are held while there is no connection.
    static let maxHeld = 64 * 1024

    let terms: Terms
    var phase = Phase.created
    var attempt: UpstreamAttempt
    var flow = AnswerFlow()
    private var receivedBytes: Int64 = 0
    private var isBodyPaused = false

    init(_ terms: Terms) {
        self.terms = terms
        let isIdempotent =
            switch terms.method {
            case .get, .head, .options, .put, .delete: true
            default: false
            }
        attempt = UpstreamAttempt(
            UpstreamAttempt.Terms(
                framing: terms.framing, reuse: isIdempotent ? .any : .recent, isRepeatable: isIdempotent,
                isHead: terms.method == .head))
    }

    // MARK: Events

    /// Asks for a connection. Further calls do nothing.
    mutating func start() {
        guard case .created = phase else { return }
        phase = .running
        attempt.start()
    }

    mutating func connected(to member: Int, isPooled: Bool) { attempt.connected(to: member, isPooled: isPooled) }

    mutating func failedToConnect(to member: Int, _ fault: UpstreamFault) {
        attempt.failedToConnect(to: member, fault)
    }

    /// No upstream can be reached.
    mutating func noUpstreamLeft() {
        guard attempt.isConnecting else { return }
        fail(Problem(.upstreamUnavailable, reason: attempt.connectFailure))
    }

    /// Every upstream has as many requests or connections as it may have.
    mutating func upstreamsAreFull() {
        guard attempt.isConnecting else { return }
        fail(Problem(.overloaded, reason: UpstreamFault.full))
    }

    /// A part of the request's body. More than the limit is 413 and more than was announced 400; that part is not
    /// forwarded.
    mutating func received(body: ByteBuffer) {
        if hasEnded { return }
        // No bytes come after a body's end. If there were any, the upstream would take them for another request.
        if attempt.unsent.isComplete { return }
        receivedBytes += Int64(body.readableBytes)
        if let limit = terms.maxBody, receivedBytes > limit { return fail(Problem(.payloadTooLarge)) }
        if case .length(let announced) = terms.framing, receivedBytes > announced {
            return fail(Problem(.badMessage, reason: "body_length"))
        }
        // Once the upstream has closed its side, the rest of the body is dropped; the connection will not be reused.
        if !attempt.answer.isUpstreamOver { attempt.unsent.add(body) }
    }

    /// The body is complete. One that is shorter than announced is 400.
    mutating func receivedEnd() {
        if hasEnded { return }
        if case .length(let announced) = terms.framing, receivedBytes != announced {
            return fail(Problem(.badMessage, reason: "body_length"))
        }
        attempt.unsent.complete()
    }

    /// The client has gone, or its message is malformed.
    mutating func clientGone() { end(.gone) }

    /// The credentials that admitted the request ended while the upstream was preparing its answer. No part of the
    /// answer has been passed on.
    mutating func admissionEnded(_ refusal: Problem) { fail(refusal) }

    /// The head may be passed on, or the client is refused.
    mutating func answerJudged(_ refusal: Problem?) {
        guard case .judging(let head) = phase else { return }
        if let refusal { fail(refusal) } else { phase = .judged(head) }
    }

    mutating func leaseTaken() { flow.isLeaseHeld = true }

    mutating func upstreamReceived(_ bytes: ByteBuffer) {
        if !hasEnded { attempt.answer.received(bytes) }
    }

    mutating func upstreamReceivedAll() { attempt.answer.receivedAll() }

    /// The upstream closed its side or failed. The connection can't be used any more.
    mutating func upstreamClosed(_ fault: UpstreamFault, isBroken: Bool) {
        guard isRunning, let reason = attempt.closed(fault, isBroken: isBroken) else { return }
        fail(Problem(.upstreamUnavailable, reason: reason))
    }

    /// The time limit has passed. Returns whether it is to be set again, where another limit ends the exchange.
    /// Connecting and waiting for the answer's head end with 504, a judgement that does not come with 503, and an
    /// answer that has begun is aborted.
    mutating func deadlinePassed(clientTakes: Bool, upstreamTakes: Bool) -> Bool {
        guard isRunning else { return false }
        if attempt.isConnecting {
            fail(Problem(.upstreamTimeout, reason: UpstreamFault.connectTimeout.reason))
        } else if case .judging = phase {
            fail(Problem(.storeUnavailable, reason: "answer_not_judged"))
        } else if attempt.answer.hasStarted {
            // A client that is slow to read has a time limit of its own; and a stream under a lease may be silent.
            if !clientTakes || flow.mayBeSilent { return true }
            end(.abort)
        } else {
            // A client that is slow to send its body has a time limit of its own as well.
            if !attempt.unsent.isComplete, upstreamTakes { return true }
            attempt.recordFault(.answerTimeout)
            fail(Problem(.upstreamTimeout, reason: UpstreamFault.answerTimeout.reason))
        }
        return false
    }

    // MARK: Questions

    /// Whether the machine still waits for a connection.
    var isConnecting: Bool { attempt.isConnecting }

    /// Whether more bytes of the upstream can be processed now.
    func wantsUpstreamBytes(clientTakes: Bool) -> Bool {
        switch phase {
        case .judging: false
        case .running, .answered, .leased, .judged:
            !attempt.answer.hasStarted || (clientTakes && !attempt.answer.holdsPart)
        case .created, .ending, .settled, .cut, .over: true
        }
    }

    /// Whether the exchange has begun and no ending has been decided.
    private var isRunning: Bool {
        switch phase {
        case .running, .answered, .leased, .judging, .judged: true
        case .created, .ending, .settled, .cut, .over: false
        }
    }

    /// Whether an ending has been decided.
    var hasEnded: Bool {
        switch phase {
        case .created, .running, .answered, .leased, .judging, .judged: false
        case .ending, .settled, .cut, .over: true
        }
    }

    /// Whether everything that ends the lease ends the answer, and not only a revocation.
    var endsWithLease: Bool { flow.isStream }

    // MARK: Actions

    /// Takes in an event; the first action that follows from it.
    mutating func next(
        after event: (inout ProxyMachine) -> Void, clientTakes: Bool, upstreamTakes: Bool
    ) -> Action? {
        event(&self)
        return next(clientTakes: clientTakes, upstreamTakes: upstreamTakes)
    }

    /// The next action; nil when the machine waits for an event.
    ///
    /// - Parameter clientTakes: whether the client's channel is writable; the answer's body waits where it is not.
    /// - Parameter upstreamTakes: whether the upstream's channel is; the request's body is paused where it is not.
    mutating func next(clientTakes: Bool, upstreamTakes: Bool) -> Action? {
        if let action = attempt.next() { return .upstream(action) }
        switch phase {
        case .created, .cut, .over: return nil
        case .running:
            if let action = nextOfBodyFlow(upstreamTakes) { return action }
            return attempt.isConnecting ? nil : nextOfAnswer(clientTakes)
        case .answered(let head): return next(of: head, clientTakes, upstreamTakes)
        case .leased(let head):
            phase = .judging(head)
            return .judgeAnswer(head)
        case .judging: return nextOfBodyFlow(upstreamTakes)
        case .judged(let head):
            if let action = nextOfBodyFlow(upstreamTakes) { return action }
            return startAnswer(head)
        case .ending(let ending):
            phase = .settled(ending)
            return .settle
        case .settled(let ending): return show(ending)
        }
    }

    private mutating func nextOfBodyFlow(_ upstreamTakes: Bool) -> Action? {
        guard !attempt.unsent.isComplete || isBodyPaused else { return nil }
        let isFull = attempt.unsent.heldBytes > Self.maxHeld || (attempt.isOpen && !upstreamTakes)
        guard isFull != isBodyPaused else { return nil }
        isBodyPaused = isFull
        return isFull ? .pauseBody : .resumeBody
    }
}
