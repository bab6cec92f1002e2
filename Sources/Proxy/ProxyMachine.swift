import Answers
import HTTPWire
import NIOCore

/// One exchange with an upstream as a value: events go in, and ``next(clientTakes:upstreamTakes:)`` gives the one action
/// that is due, until nothing is.
///
/// Bytes are conserved whatever the order of events: the upstream gets exactly the body that the client sent, or the
/// connection to it is closed; the client gets exactly the answer that the upstream gave, or sees it cut. A connection
/// is offered for reuse only after an exchange whose request and answer were both whole.
///
/// Events only change the state. An action may cause further events before the next action is asked for: a piece of the
/// body that arrives while the upstream is being written to waits in ``pieces`` for its turn, and nothing is in between.
package struct ProxyMachine {
    /// What the request and its route say beforehand.
    package struct Terms {
        /// How the request's body is framed, towards the upstream as from the client.
        package var framing: BodyFraming
        package var method: RequestMethod
        /// The most bytes a body may have; nil for no limit.
        package var maxBody: Int64?
        /// Whether a lease's expiry ends every answer early, and not only event streams.
        package var isLeased: Bool
    }

    package enum Action {
        /// Get a connection: an idle one if there is one that suits, else a new one.
        case connect(Reuse)
        /// The head of the request, then its body in pieces, then what ends a chunked body.
        case sendHead
        case sendBody(ByteBuffer)
        case sendEnd
        case flushUpstream
        /// Stop and resume the flow of the request's body.
        case pauseBody
        case resumeBody
        case sendInterim(ResponseHead)
        case startAnswer(ResponseHead)
        case sendAnswer(ByteBuffer)
        case flushAnswer
        /// The answer is going to last: it must be possible to end it early.
        case takeLease
        /// Give the connection up, for reuse or to be closed.
        case release(reuse: Bool)
        /// Let go of deadline and lease.
        case settle
        /// The last word to the client.
        case finishAnswer
        case abortAnswer
        case respond(Problem)
        /// The upstream did not serve: for the operator's log.
        case tell(UpstreamFault)
    }

    /// Which idle connections a request may use.
    package enum Reuse {
        /// Any that should still be open: the request is repeated on a new one if it is not.
        case any
        /// Only one that was used a moment ago: the request can't be repeated safely.
        case recent
        /// None: an idle connection has just turned out to be closed.
        case none
    }

    private enum Phase {
        case created
        case connecting(Reuse, isAsked: Bool)
        case exchanging
        case over(Ending)
    }

    private enum Ending {
        case complete(reuse: Bool)
        case fail(Problem)
        case abort
        case gone
    }

    /// More than this of a body is not held while there is no connection.
    static let maxHeld = 64 * 1024

    private let terms: Terms
    private var phase = Phase.created

    // The request.
    private var pieces: [ByteBuffer] = []
    private var nextPiece = 0
    private var heldBytes = 0
    private var receivedBytes: Int64 = 0
    private var hasRequestEnded: Bool
    private var isHeadSent = false
    private var hasSentBody = false
    private var isEndSent = false
    private var needsFlush = false
    private var isBodyPaused = false

    // The upstream.
    private var holdsUpstream = false
    private var isPooled = false
    private var dropsUpstream = false
    private var isRetry = false
    private var untold: UpstreamFault?

    // The answer.
    private var answer: AnswerReader
    private var isStream = false
    private var needsAnswerFlush = false
    private var hasAskedForLease = false
    private var isLeaseHeld = false

    // The ending.
    private var isSettled = false
    private var hasLastWord = false

    package init(_ terms: Terms) {
        self.terms = terms
        self.hasRequestEnded = terms.framing == .none
        self.answer = AnswerReader(requestWasHead: terms.method == .head)
    }

    // MARK: Events

    package mutating func start() {
        guard case .created = phase else { return }
        phase = .connecting(isIdempotent ? .any : .recent, isAsked: false)
    }

    /// Whether a connection is still wanted.
    var isConnecting: Bool {
        if case .connecting = phase { true } else { false }
    }

    mutating func connected(isPooled: Bool) {
        guard isConnecting else { return }
        self.isPooled = isPooled
        holdsUpstream = true
        phase = .exchanging
    }

    /// None of the upstreams can be reached.
    mutating func cannotConnect(reason: String) {
        guard isConnecting else { return }
        fail(Problem(.upstreamUnavailable, reason: reason))
    }

    package mutating func received(body: ByteBuffer) {
        if case .over = phase { return }
        receivedBytes += Int64(body.readableBytes)
        if let limit = terms.maxBody, receivedBytes > limit { return fail(Problem(.payloadTooLarge)) }
        if case .length(let announced) = terms.framing, receivedBytes > announced {
            return fail(Problem(.badMessage, reason: "body_length"))
        }
        // The connection is closed: what is left of the body has nowhere to go, and it will not be used again.
        if answer.isUpstreamOver { return }
        pieces.append(body)
        heldBytes += body.readableBytes
    }

    package mutating func receivedEnd() {
        if case .over = phase { return }
        if case .length(let announced) = terms.framing, receivedBytes != announced {
            return fail(Problem(.badMessage, reason: "body_length"))
        }
        hasRequestEnded = true
    }

    /// The client has gone, or what it sent can't be read.
    package mutating func clientGone() { end(.gone) }

    /// The head can't be said to this client; nothing of the answer has been passed on.
    mutating func cannotPassOn(reason: String) { fail(Problem(.upstreamUnavailable, reason: reason)) }

    mutating func leaseTaken() { isLeaseHeld = true }

    package mutating func leaseEnded() {
        isLeaseHeld = false
        end(.abort)
    }

    package mutating func upstreamReceived(_ bytes: ByteBuffer) {
        if case .over = phase { return }
        answer.received(bytes)
    }

    package mutating func upstreamReceivedAll() { answer.receivedAll() }

    /// The upstream closed its side or failed; the connection is of no more use.
    package mutating func upstreamClosed(_ fault: UpstreamFault, isBroken: Bool) {
        guard case .exchanging = phase else { return }
        if answer.head == nil {
            closedBeforeAnswer(fault)
        } else {
            // A slow client may still have to be given what came before the end.
            answer.closed(isBroken: isBroken)
            dropPieces()
        }
        dropsUpstream = holdsUpstream
    }

    /// Another try is safe if nothing of a body went out and the method may be repeated.
    private mutating func closedBeforeAnswer(_ fault: UpstreamFault) {
        let mayRetry = isIdempotent && !hasSentBody && !isRetry && !answer.hasBegun
        // That an idle connection was closed meanwhile is not the upstream's fault.
        if !mayRetry || !isPooled { untold = fault }
        guard mayRetry else { return fail(Problem(.upstreamUnavailable, reason: fault.reason)) }
        isRetry = true
        isHeadSent = false
        isEndSent = false
        needsFlush = false
        phase = .connecting(.none, isAsked: false)
    }

    /// The time limit has passed. Returns whether it is to be set anew: someone else's limit ends this.
    package mutating func deadlinePassed(clientTakes: Bool, upstreamTakes: Bool) -> Bool {
        switch phase {
        case .created, .over: return false
        case .connecting:
            fail(Problem(.upstreamTimeout, reason: UpstreamFault.connectTimeout.reason))
            return false
        case .exchanging where answer.hasStarted:
            // A client that is slow to read has a time limit of its own; and a stream under a lease may be silent.
            if !clientTakes || (isLeaseHeld && isStream) { return true }
            end(.abort)
            return false
        case .exchanging:
            // So has a client that is slow with its body.
            if !hasRequestEnded, upstreamTakes { return true }
            untold = .answerTimeout
            fail(Problem(.upstreamTimeout, reason: UpstreamFault.answerTimeout.reason))
            return false
        }
    }

    // MARK: Questions

    /// Whether more bytes of the upstream are of use now.
    package func wantsUpstreamBytes(clientTakes: Bool) -> Bool {
        guard case .exchanging = phase, answer.hasStarted else { return true }
        return clientTakes && !answer.holdsPart
    }

    /// What can end the answer early: everything that ends its lease, or only a revocation.
    var endsWithLease: Bool { isStream }

    private var isIdempotent: Bool {
        switch terms.method {
        case .get, .head, .options, .put, .delete: true
        default: false
        }
    }

    // MARK: Actions

    /// The next thing to do; nil when something has to happen first.
    package mutating func next(clientTakes: Bool, upstreamTakes: Bool) -> Action? {
        if let fault = untold.take() { return .tell(fault) }
        if case .over(let ending) = phase { return nextOfEnding(ending) }
        if dropsUpstream {
            dropsUpstream = false
            holdsUpstream = false
            return .release(reuse: false)
        }
        switch phase {
        case .created, .over: return nil
        case .connecting(let reuse, let isAsked):
            guard isAsked else {
                phase = .connecting(reuse, isAsked: true)
                return .connect(reuse)
            }
            return nextOfBodyFlow(upstreamTakes)
        case .exchanging:
            return nextOfRequest(upstreamTakes) ?? nextOfAnswer(clientTakes)
        }
    }

    private mutating func nextOfRequest(_ upstreamTakes: Bool) -> Action? {
        if holdsUpstream {
            if !isHeadSent {
                isHeadSent = true
                needsFlush = true
                return .sendHead
            }
            if let piece = takePiece() {
                hasSentBody = true
                needsFlush = true
                return .sendBody(piece)
            }
            if hasRequestEnded, !isEndSent {
                isEndSent = true
                if terms.framing == .chunked {
                    needsFlush = true
                    return .sendEnd
                }
            }
            if needsFlush {
                needsFlush = false
                return .flushUpstream
            }
        }
        return nextOfBodyFlow(upstreamTakes)
    }

    private mutating func nextOfBodyFlow(_ upstreamTakes: Bool) -> Action? {
        guard !hasRequestEnded || isBodyPaused else { return nil }
        let isFull = heldBytes > Self.maxHeld || (holdsUpstream && !upstreamTakes)
        guard isFull != isBodyPaused else { return nil }
        isBodyPaused = isFull
        return isFull ? .pauseBody : .resumeBody
    }

    private mutating func takePiece() -> ByteBuffer? {
        guard nextPiece < pieces.count else { return nil }
        let piece = pieces[nextPiece]
        heldBytes -= piece.readableBytes
        nextPiece += 1
        if nextPiece == pieces.count {
            pieces.removeAll(keepingCapacity: true)
            nextPiece = 0
        }
        return piece
    }

    private mutating func dropPieces() {
        pieces = []
        nextPiece = 0
        heldBytes = 0
    }

    private mutating func nextOfEnding(_ ending: Ending) -> Action? {
        if holdsUpstream {
            holdsUpstream = false
            if case .complete(let reuse) = ending { return .release(reuse: reuse) }
            return .release(reuse: false)
        }
        if !isSettled {
            isSettled = true
            return .settle
        }
        guard !hasLastWord else { return nil }
        hasLastWord = true
        switch ending {
        case .complete: return .finishAnswer
        case .fail(let problem): return .respond(problem)
        case .abort: return .abortAnswer
        case .gone: return nil
        }
    }

    private mutating func end(_ ending: Ending) {
        if case .over = phase { return }
        phase = .over(ending)
        dropPieces()
    }

    private mutating func fail(_ problem: Problem) { end(.fail(problem)) }
}

// MARK: - The answer

extension ProxyMachine {
    private mutating func nextOfAnswer(_ clientTakes: Bool) -> Action? {
        switch answer.next(takesBody: clientTakes) {
        case .interim(let head): return .sendInterim(head)
        case .start(let head):
            isStream = terms.isLeased || ResponseFilter.isEventStream(head)
            needsAnswerFlush = true
            return .startAnswer(head)
        case .part(let part):
            needsAnswerFlush = true
            return .sendAnswer(part)
        case .wait: return nextOfPause(clientTakes)
        case .end: end(.complete(reuse: mayReuse))
        case .cut where answer.hasStarted, .malformed where answer.hasStarted: end(.abort)
        case .cut: fail(Problem(.upstreamUnavailable, reason: "upstream_closed"))
        case .malformed:
            untold = .malformed
            fail(Problem(.upstreamUnavailable, reason: UpstreamFault.malformed.reason))
        case .unexpected: fail(Problem(.upstreamUnavailable, reason: "unexpected_interim_answer"))
        }
        return next(clientTakes: clientTakes, upstreamTakes: true)
    }

    /// What is due while an answer lasts and nothing more of it can be passed on at the moment.
    private mutating func nextOfPause(_ clientTakes: Bool) -> Action? {
        guard answer.hasStarted, answer.isBurstOver || !clientTakes else { return nil }
        if !hasAskedForLease {
            hasAskedForLease = true
            return .takeLease
        }
        guard needsAnswerFlush else { return nil }
        needsAnswerFlush = false
        return .flushAnswer
    }

    /// Whether the connection may carry another exchange: request and answer were whole, nothing came behind them, and
    /// nobody on the way can see another end of them.
    private var mayReuse: Bool {
        guard let head = answer.head, head.keepAlive, !answer.isUpstreamOver, !answer.hasMore,
            hasRequestEnded, isEndSent, nextPiece == pieces.count
        else { return false }
        // Bytes that somebody takes for the body announced here would be the next exchange's answer.
        let announcesBody = head.contentLength.map { $0 > 0 } ?? head.present.contains(.transferEncoding)
        if head.framing == .none, announcesBody { return false }
        switch terms.method {
        case .get, .head, .delete, .options: return terms.framing == .none || terms.framing == .length(0)
        default: return true
        }
    }
}
