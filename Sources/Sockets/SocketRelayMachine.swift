import HTTPWire
import Leases
import NIOCore

/// The life of a relayed socket as a value: events go in with the time, and each gives the actions that follow from it.
///
/// Bytes pass untouched in both directions; only the borders of the frames towards the client are followed, so that a
/// Close can be put between two frames when the lease ends. Each side is closed once, the client gets at most one Close,
/// and nothing follows it.
struct SocketRelayMachine {
    enum Action: Equatable {
        case writeToUpstream(ByteBuffer)
        case flushUpstream
        case writeToClient(ByteBuffer)
        case flushClient
        /// The same, without waiting for the loop to be through with what has arrived.
        case flushClientNow
        case readClient
        case readUpstream
        /// Call ``timePassed(now:)`` after so long.
        case wait(TimeAmount)
        /// Give the lease and the place in the census back.
        case giveBack
        /// Close the upstream's connection: at once, or when what was written has gone out and the upstream has closed.
        case closeUpstream
        case finishUpstream
        /// The same for the client's; it has at most `within` to close its side.
        case closeClient
        case finishClient(within: TimeAmount)
    }

    private enum State: Equatable {
        /// The client has not got its 101 yet. What the upstream has sent meanwhile waits.
        case unopened
        case relaying
        /// The lease is over, and the client is within a frame: only the rest of that frame is passed on.
        case finishingFrame(LeaseEnd, until: NIODeadline)
        /// The client has got its last frame. What else there is to do is due at ``settle()``.
        case unsettled
        /// Nothing is passed on any more.
        case over
    }

    /// How long the frame under way has to come to its end when the lease has: a revocation is obeyed within 100 ms.
    static let borderTime = TimeAmount.milliseconds(80)
    /// How long a peer has to take the last bytes and to close its side: in answer to a Close of the gateway's, or when
    /// it has yet to read what its own peer said last.
    static let closeTime = TimeAmount.seconds(1)
    static let drainTime = TimeAmount.seconds(5)

    private var state = State.unopened
    private var toClient = FrameTracker()
    /// What the upstream sent behind its 101, before the client had its own.
    private var early: ByteBuffer

    init(early: ByteBuffer) { self.early = early }

    // MARK: Questions

    /// Whether more of the client's bytes are of use: what can't be passed on is read to be dropped.
    func wantsClientBytes(upstreamTakes: Bool) -> Bool {
        switch state {
        case .unopened, .relaying: upstreamTakes
        case .finishingFrame, .unsettled, .over: true
        }
    }

    /// Whether more of the upstream's bytes are of use.
    func wantsUpstreamBytes(clientTakes: Bool) -> Bool { state != .unopened && clientTakes }

    // MARK: The client

    /// Whether bytes are passed on in both directions.
    var isRelaying: Bool { state == .relaying }

    /// The client has got its 101.
    mutating func opened() -> ActionList<Action> {
        guard state == .unopened else { return .none }
        state = .relaying
        guard early.readableBytes > 0 else { return ActionList(.readUpstream) }
        let bytes = early
        early = ByteBuffer()
        _ = toClient.advance(over: bytes)
        return [.writeToClient(bytes), .flushClient, .readUpstream]
    }

    mutating func clientSent(_ bytes: ByteBuffer) -> ActionList<Action> {
        state == .relaying ? ActionList(.writeToUpstream(bytes)) : .none
    }

    /// A burst of the client's bytes is over.
    func clientSentAll() -> ActionList<Action> {
        switch state {
        case .relaying, .finishingFrame: ActionList(.flushUpstream)
        case .unopened, .unsettled, .over: .none
        }
    }

    func clientBecameWritable() -> ActionList<Action> { ActionList(.readUpstream) }

    /// The client's side is closed. What it sent last, its Close perhaps, still reaches the upstream.
    ///
    /// - Parameter wasReset: whether the connection failed: then there is nothing to wait for.
    mutating func clientGone(wasReset: Bool) -> ActionList<Action> {
        switch state {
        case .unopened, .relaying, .finishingFrame:
            state = .over
            return [.giveBack, wasReset ? .closeUpstream : .finishUpstream]
        case .unsettled:
            state = .over
            return [.giveBack, .closeUpstream]
        case .over: return .none
        }
    }

    // MARK: The upstream

    mutating func upstreamSent(_ bytes: ByteBuffer) -> ActionList<Action> {
        switch state {
        case .unopened:
            early.writeImmutableBuffer(bytes)
            return .none
        case .relaying:
            // A frame whose length can't be is the client's to refuse: it is passed on like any other bytes.
            _ = toClient.advance(over: bytes)
            return ActionList(.writeToClient(bytes))
        case .finishingFrame(let end, _): return finishFrame(bytes, end)
        case .unsettled, .over: return .none
        }
    }

    /// A burst of the upstream's bytes is over.
    func upstreamSentAll() -> ActionList<Action> {
        switch state {
        case .relaying, .finishingFrame: ActionList(.flushClient)
        case .unopened, .unsettled, .over: .none
        }
    }

    func upstreamBecameWritable() -> ActionList<Action> { state == .unopened ? .none : ActionList(.readClient) }

    mutating func upstreamClosed() -> ActionList<Action> {
        switch state {
        case .unopened:
            state = .over
            return [.giveBack, .closeUpstream, .closeClient]
        case .relaying, .finishingFrame:
            state = .over
            return [.giveBack, .closeUpstream, .finishClient(within: Self.drainTime)]
        case .unsettled, .over: return .none
        }
    }

    // MARK: The lease

    /// Puts a Close at the next border between two frames; where none comes in time the connection ends as it is.
    mutating func leaseEnded(_ end: LeaseEnd, now: NIODeadline) -> ActionList<Action> {
        guard state == .relaying else { return .none }
        guard !toClient.isAtBoundary else { return close(end) }
        state = .finishingFrame(end, until: now + Self.borderTime)
        return ActionList(.wait(Self.borderTime))
    }

    /// What else there is to do when the client has got its last frame.
    mutating func settle() -> ActionList<Action> {
        guard state == .unsettled else { return .none }
        state = .over
        return [.giveBack, .closeUpstream, .finishClient(within: Self.closeTime), .readClient]
    }

    /// The time that was asked for is over.
    mutating func timePassed(now: NIODeadline) -> ActionList<Action> {
        guard case .finishingFrame(_, let until) = state, now >= until else { return .none }
        return cut()
    }

    private mutating func finishFrame(_ bytes: ByteBuffer, _ end: LeaseEnd) -> ActionList<Action> {
        guard case .success(let progress) = toClient.advanceToBoundary(over: bytes) else { return cut() }
        var actions = ActionList<Action>()
        if let rest = bytes.getSlice(at: bytes.readerIndex, length: progress.consumed), rest.readableBytes > 0 {
            actions.append(.writeToClient(rest))
        }
        guard progress.isAtBoundary else { return actions }
        for action in close(end) { actions.append(action) }
        for action in settle() { actions.append(action) }
        return actions
    }

    /// The last frame: behind the upstream's own Close nothing may follow.
    private mutating func close(_ end: LeaseEnd) -> ActionList<Action> {
        state = .unsettled
        return toClient.hasSeenClose ? ActionList(.flushClientNow) : [.writeToClient(end.frame), .flushClientNow]
    }

    /// Ends the connection within a frame.
    private mutating func cut() -> ActionList<Action> {
        state = .over
        return [.giveBack, .closeUpstream, .closeClient]
    }
}
