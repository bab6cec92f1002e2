import HTTPWire
import NIOCore

/// The attempt to have one request answered by an upstream, as a value: which connection to ask for, what still has to
/// be sent, what has come back, and whether another try is safe. Proxied requests and relayed upgrades both begin with
/// one.
///
/// Events only change the state; ``next()`` gives the one action that is due, until none is.
package struct UpstreamAttempt {
    /// Which idle connections a request may use.
    package enum Reuse {
        /// Any that should still be open. If it has been closed, the request is repeated on a new one.
        case any
        /// Only one that was used within the last second: the request can't be repeated safely.
        case recent
        /// None.
        case none
    }

    /// What is known of the request beforehand.
    package struct Terms {
        /// How the request's body is framed.
        package var framing: BodyFraming
        /// Which idle connections the first try may use.
        package var reuse: Reuse
        /// Whether the request may be sent again when its connection closes without an answer.
        package var isRepeatable: Bool
        /// Whether the method was HEAD, so that no body follows the answer's head.
        package var isHead = false
        /// Whether `101 Switching Protocols` was asked for.
        package var expectsSwitch = false

        /// Creates the terms of a request, by default of one that is neither HEAD nor an upgrade.
        package init(
            framing: BodyFraming, reuse: Reuse, isRepeatable: Bool, isHead: Bool = false, expectsSwitch: Bool = false
        ) {
            self.framing = framing
            self.reuse = reuse
            self.isRepeatable = isRepeatable
            self.isHead = isHead
            self.expectsSwitch = expectsSwitch
        }
    }

    /// What the attempt asks for.
    package enum Action {
        /// Get a connection to any upstream except those that were already tried. `isRetry` where one was asked for
        /// before: such a try counts against the budget of retries.
        case connect(Reuse, excluding: Set<Int>, isRetry: Bool)
        /// Send a part of the request on the connection, or flush it.
        case send(UnsentRequest.Action)
        /// Give the connection back, for reuse or to be closed.
        case release(reuse: Bool)
        /// Write to the operator's log that the upstream failed.
        case report(UpstreamFault, member: Int)
    }

    private enum State {
        case created
        case connecting(Reuse, isAsked: Bool)
        /// The attempt has a connection.
        case open(isPooled: Bool)
        /// The connection is to be given back; then, where `retries`, another one is asked for.
        case releasing(reuse: Bool, retries: Bool)
        /// The attempt is over, and its connection is kept until ``letGo()``.
        case held
        /// There is no connection, and none will be asked for.
        case done
    }

    private let terms: Terms
    private var state = State.created
    /// Whether the request has been sent on a connection that closed without an answer.
    private var isRetry = false
    /// The upstream that was asked last.
    private var member: Int?
    /// Those that could not be reached, and why the last of them could not.
    private var tried: Set<Int> = []
    private var connectFault: UpstreamFault?
    private var unreportedFault: (fault: UpstreamFault, member: Int)?

    /// The part of the request that has not been sent yet.
    package var unsent: UnsentRequest
    /// What the upstream has answered.
    package var answer: AnswerReader

    /// Begins nothing: ``start()`` asks for a connection.
    package init(_ terms: Terms) {
        self.terms = terms
        unsent = UnsentRequest(framing: terms.framing)
        answer = AnswerReader(requestWasHead: terms.isHead, expectsSwitch: terms.expectsSwitch)
    }

    /// Whether the attempt still waits for a connection.
    package var isConnecting: Bool {
        switch state {
        case .connecting, .releasing(_, retries: true): true
        case .created, .open, .releasing, .held, .done: false
        }
    }

    /// Whether the attempt has a connection.
    package var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    // MARK: Events

    /// The request may be sent: a connection is asked for.
    package mutating func start() {
        guard case .created = state else { return }
        state = .connecting(terms.reuse, isAsked: false)
    }

    /// There is a connection.
    ///
    /// - Parameter isPooled: whether it has carried requests before, so that the upstream may just be closing it.
    package mutating func connected(to member: Int, isPooled: Bool) {
        guard case .connecting = state else { return }
        self.member = member
        state = .open(isPooled: isPooled)
    }

    /// One upstream can't be reached. Nothing was sent, so another may be asked, with any method.
    package mutating func failedToConnect(to member: Int, _ fault: UpstreamFault) {
        unreportedFault = (fault, member)
        guard case .connecting = state else { return }
        connectFault = fault
        tried.insert(member)
        state = .connecting(.none, isAsked: false)
    }

    /// Why there is no upstream left to ask.
    package var connectFailure: String { connectFault?.reason ?? "no_upstream_reachable" }

    /// The upstream closed its side or failed. The connection can't be used any more.
    ///
    /// - Returns: why the attempt has failed; nil where it goes on, with what has arrived of the answer or with another
    ///   connection.
    package mutating func closed(_ fault: UpstreamFault, isBroken: Bool) -> String? {
        guard case .open(let isPooled) = state else { return nil }
        guard answer.head == nil else {
            // A slow client may not have got everything that came before the end.
            answer.closed(isBroken: isBroken)
            unsent.drop()
            state = .releasing(reuse: false, retries: false)
            return nil
        }
        // Another try is safe if no part of a body was sent and the method may be repeated.
        let retries = terms.isRepeatable && !unsent.hasSentBody && !isRetry && !answer.hasBegun
        state = .releasing(reuse: false, retries: retries)
        // An idle connection that was closed meanwhile is not a fault of the upstream, nor that it gave up on a request
        // that the client has not finished.
        if !retries || !isPooled {
            var fault = fault
            fault.isUpstreams = unsent.isComplete || isBroken
            recordFault(fault)
        }
        guard retries else { return fault.reason }
        isRetry = true
        unsent.restart()
        return nil
    }

    /// Records a fault of the upstream that was asked last.
    package mutating func recordFault(_ fault: UpstreamFault) {
        if let member { unreportedFault = (fault, member) }
    }

    /// Ends the attempt and gives the connection back.
    package mutating func end(reuse: Bool) {
        unsent.drop()
        switch state {
        case .open: state = .releasing(reuse: reuse, retries: false)
        case .releasing, .held: state = .releasing(reuse: false, retries: false)
        case .created, .connecting, .done: state = .done
        }
    }

    /// Ends the attempt and keeps its connection, to which nothing is sent any more, until ``letGo()``.
    package mutating func hold() {
        unsent.drop()
        switch state {
        case .open, .releasing, .held: state = .held
        case .created, .connecting, .done: state = .done
        }
    }

    /// Gives back a connection that ``hold()`` has kept, to be closed.
    package mutating func letGo() {
        if case .held = state { state = .releasing(reuse: false, retries: false) }
    }

    /// Hands the connection over to a new owner. Returns the bytes that have arrived after the answer's head.
    package mutating func handOver() -> ByteBuffer {
        state = .done
        return answer.takeRest()
    }

    // MARK: Actions

    /// The next action; nil when the attempt waits for an event.
    package mutating func next() -> Action? {
        if let (fault, member) = unreportedFault.take() { return .report(fault, member: member) }
        switch state {
        case .open: return unsent.next().map { .send($0) }
        case .connecting(let reuse, isAsked: false):
            state = .connecting(reuse, isAsked: true)
            return .connect(reuse, excluding: tried, isRetry: isRetry || !tried.isEmpty)
        case .releasing(let reuse, let retries):
            state = retries ? .connecting(.none, isAsked: false) : .done
            return .release(reuse: reuse)
        case .created, .connecting, .held, .done: return nil
        }
    }
}
