import HTTPWire
import NIOCore

/// The attempt to have one request answered by an upstream, as a value: which connection to ask for, what it is owed,
/// what has come back, and whether another try is safe. Proxied requests and relayed upgrades both begin with one.
///
/// Events only change the state; ``next()`` gives the one action that is due, until nothing is.
package struct UpstreamAttempt {
    /// Which idle connections a request may use.
    package enum Reuse {
        /// Any that should still be open: the request is repeated on a new one if it is not.
        case any
        /// Only one that was used a moment ago: the request can't be repeated safely.
        case recent
        /// None.
        case none
    }

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

    package enum Action {
        /// Get a connection to any upstream but those that were tried in vain.
        case connect(Reuse, excluding: Set<Int>)
        /// Give the connection something of the request, or flush it.
        case send(OwedRequest.Action)
        /// Give the connection up, for reuse or to be closed.
        case release(reuse: Bool)
        /// The upstream did not serve: for the operator's log.
        case tell(UpstreamFault, member: Int)
    }

    private enum State {
        case created
        case connecting(Reuse, isAsked: Bool)
        /// There is a connection, and it is this attempt's.
        case open(isPooled: Bool)
        /// The connection is to be given up; then perhaps another one is asked for.
        case releasing(reuse: Bool, retries: Bool)
        /// There is no connection, and none will be asked for.
        case done
    }

    private let terms: Terms
    private var state = State.created
    private var isRetry = false
    /// The upstream that was asked last.
    private var member: Int?
    /// Those that could not be reached, and why the last of them could not.
    private var tried: Set<Int> = []
    private var connectFault: UpstreamFault?
    private var untold: (fault: UpstreamFault, member: Int)?

    /// What the upstream has yet to be given.
    package var owed: OwedRequest
    /// What the upstream has answered.
    package var answer: AnswerReader

    package init(_ terms: Terms) {
        self.terms = terms
        owed = OwedRequest(framing: terms.framing)
        answer = AnswerReader(requestWasHead: terms.isHead, expectsSwitch: terms.expectsSwitch)
    }

    /// Whether a connection is still wanted.
    package var isConnecting: Bool {
        switch state {
        case .connecting, .releasing(_, retries: true): true
        case .created, .open, .releasing, .done: false
        }
    }

    /// Whether there is a connection to give something to.
    package var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    // MARK: Events

    package mutating func start() {
        guard case .created = state else { return }
        state = .connecting(terms.reuse, isAsked: false)
    }

    package mutating func connected(to member: Int, isPooled: Bool) {
        guard case .connecting = state else { return }
        self.member = member
        state = .open(isPooled: isPooled)
    }

    /// One upstream can't be reached. Nothing was sent, so another may be asked whatever the method is.
    package mutating func failedToConnect(to member: Int, _ fault: UpstreamFault) {
        untold = (fault, member)
        guard case .connecting = state else { return }
        connectFault = fault
        tried.insert(member)
        state = .connecting(.none, isAsked: false)
    }

    /// Why there is no upstream left to ask.
    package var connectFailure: String { connectFault?.reason ?? "no_upstream_reachable" }

    /// The upstream closed its side or failed; the connection is of no more use.
    ///
    /// - Returns: why the attempt has failed; nil where it goes on, with what has arrived of the answer or with another
    ///   connection.
    package mutating func closed(_ fault: UpstreamFault, isBroken: Bool) -> String? {
        guard case .open(let isPooled) = state else { return nil }
        guard answer.head == nil else {
            // A slow client may still have to be given what came before the end.
            answer.closed(isBroken: isBroken)
            owed.drop()
            state = .releasing(reuse: false, retries: false)
            return nil
        }
        // Another try is safe if nothing of a body went out and the method may be repeated.
        let retries = terms.isRepeatable && !owed.hasSentBody && !isRetry && !answer.hasBegun
        state = .releasing(reuse: false, retries: retries)
        // That an idle connection was closed meanwhile is not the upstream's fault.
        if !retries || !isPooled { blame(fault) }
        guard retries else { return fault.reason }
        isRetry = true
        owed.restart()
        return nil
    }

    /// The upstream that was asked last did not serve.
    package mutating func blame(_ fault: UpstreamFault) {
        if let member { untold = (fault, member) }
    }

    /// Nothing more is wanted of the upstream.
    package mutating func end(reuse: Bool) {
        owed.drop()
        switch state {
        case .open: state = .releasing(reuse: reuse, retries: false)
        case .releasing: state = .releasing(reuse: false, retries: false)
        case .created, .connecting, .done: state = .done
        }
    }

    /// The connection belongs to someone else from here on. Returns what has arrived behind the answer's head.
    package mutating func handOver() -> ByteBuffer {
        state = .done
        return answer.takeRest()
    }

    // MARK: Actions

    /// The next thing to do; nil when something has to happen first.
    package mutating func next() -> Action? {
        if let (fault, member) = untold.take() { return .tell(fault, member: member) }
        switch state {
        case .open: return owed.next().map { .send($0) }
        case .connecting(let reuse, isAsked: false):
            state = .connecting(reuse, isAsked: true)
            return .connect(reuse, excluding: tried)
        case .releasing(let reuse, let retries):
            state = retries ? .connecting(.none, isAsked: false) : .done
            return .release(reuse: reuse)
        case .created, .connecting, .done: return nil
        }
    }
}
