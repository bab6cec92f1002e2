import HTTPWire
import Leases
import NIOCore

/// The life of a relayed socket as a value: it is told of events and the time, and answers each with the actions to
/// take.
///
/// Bytes pass unchanged in both directions. Only the borders of the frames to the client are tracked, so that a Close
/// can be put between two frames when the lease ends. Each side is closed once, the client gets at most one Close, and
/// nothing follows it.
struct SocketRelayMachine {
    /// What the relay has to do, in the order of the list. Bytes are written here and sent by the flush that follows.
    enum Action: Equatable {
        case writeToUpstream(ByteBuffer)
        /// Send the upstream what was written: a burst of the client's bytes is over.
        case flushUpstream
        case writeToClient(ByteBuffer)
        /// Send the client what was written: a burst of the upstream's bytes is over.
        case flushClient
        /// Flush the client's side at once, without waiting until the loop has processed everything that has arrived.
        case flushClientNow
        /// Read on from the client, where reading may have stopped.
        case readClient
        /// Read on from the upstream, where reading may have stopped.
        case readUpstream
        /// Call ``timePassed(now:)`` after this time.
        case wait(TimeAmount)
        /// Give the lease and the reservation back.
        case giveBack
        /// Close the upstream's connection at once.
        case closeUpstream
        /// Close it once everything written has been sent and the upstream has closed its side.
        case finishUpstream
        /// Close the client's connection at once.
        case closeClient
        /// Close it once everything written has been sent and the client has closed its side, which may take `within`
        /// at most.
        case finishClient(within: TimeAmount)
    }

    private enum State: Equatable {
        /// The client has not got its 101 yet. Bytes that the upstream has sent meanwhile wait.
        case unopened
        case relaying
        /// The lease is over, but the client has got only part of a frame: only the rest of that frame is passed on.
        case finishingFrame(LeaseEnd, until: NIODeadline)
        /// The client has got its last frame. The rest is done at ``settle()``.
        case unsettled
        /// No more bytes are passed on.
        case over
    }

    /// How long the rest of a frame may take when the lease has ended: a revocation takes effect within 100 ms. When it
    /// is over, the connection is cut in the middle of the frame, without a Close.
    static let borderTime = TimeAmount.milliseconds(80)
    /// How long a peer has to answer a Close of the gateway by closing its side.
    static let closeTime = TimeAmount.seconds(1)
    /// How long a client has to take the last bytes of an upstream that has closed, and to close its side. An upstream
    /// whose client has closed has the second of ``SocketEnding``.
    static let drainTime = TimeAmount.seconds(5)

    private var state = State.unopened
    private var toClient = FrameTracker()
    /// What the upstream sent after its 101, before the client had got its own.
    private var early: ByteBuffer

    /// - Parameter early: what the upstream has sent after its 101; the first that the client gets.
    init(early: ByteBuffer) { self.early = early }

    // MARK: Questions

    /// Whether more of the client's bytes are to be read. Bytes that can't be passed on are read and dropped.
    func wantsClientBytes(upstreamTakes: Bool) -> Bool {
        switch state {
        case .unopened, .relaying: upstreamTakes
        case .finishingFrame, .unsettled, .over: true
        }
    }

    /// Whether more of the upstream's bytes are to be read.
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

    /// Bytes of the client. They are dropped once the lease is over, since nothing may reach the upstream after that.
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

    /// The client's channel takes bytes again.
    func clientBecameWritable() -> ActionList<Action> { ActionList(.readUpstream) }

    /// The client's side is closed. Its last bytes, perhaps its Close, still reach the upstream.
    ///
    /// - Parameter wasReset: whether the connection failed. Then there is no reason to wait.
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

    /// Bytes of the upstream. Before the client's 101 they wait; after the lease's end only the rest of a frame is
    /// passed on.
    mutating func upstreamSent(_ bytes: ByteBuffer) -> ActionList<Action> {
        switch state {
        case .unopened:
            early.writeImmutableBuffer(bytes)
            return .none
        case .relaying:
            // A frame with an impossible length is passed on like any other bytes: the client has to refuse it.
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

    /// The upstream's channel takes bytes again.
    func upstreamBecameWritable() -> ActionList<Action> { state == .unopened ? .none : ActionList(.readClient) }

    /// The upstream has closed or failed. The last bytes of an open socket still reach the client, within
    /// ``drainTime``.
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

    /// Puts a Close at the next border between two frames. Where none comes in time, the connection ends without a
    /// Close.
    ///
    /// - Parameter now: the loop's time, from which ``borderTime`` counts.
    mutating func leaseEnded(_ end: LeaseEnd, now: NIODeadline) -> ActionList<Action> {
        guard state == .relaying else { return .none }
        guard !toClient.isAtBoundary else { return close(end) }
        state = .finishingFrame(end, until: now + Self.borderTime)
        return ActionList(.wait(Self.borderTime))
    }

    /// Does the rest when the client has got its last frame.
    mutating func settle() -> ActionList<Action> {
        guard state == .unsettled else { return .none }
        state = .over
        return [.giveBack, .closeUpstream, .finishClient(within: Self.closeTime), .readClient]
    }

    /// The time that ``Action/wait(_:)`` asked for is over.
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

    /// Sends the last frame, a Close, unless the upstream has sent its own: nothing may follow that.
    private mutating func close(_ end: LeaseEnd) -> ActionList<Action> {
        state = .unsettled
        return toClient.hasSeenClose ? ActionList(.flushClientNow) : [.writeToClient(end.frame), .flushClientNow]
    }

    /// Ends the connection in the middle of a frame.
    private mutating func cut() -> ActionList<Action> {
        state = .over
        return [.giveBack, .closeUpstream, .closeClient]
    }
}
