/// The life of a connection to an upstream as a value: whether an exchange has it, whether bytes that come can be the
/// answer to a request, and how it ended.
///
/// An answer is taken only after something of the request was handed to the kernel. Bytes from before that can't be its
/// answer; taken for one, they would let an upstream, or a request that was smuggled to it, answer another client's
/// request.
struct UpstreamConnectionMachine {
    /// Who has the connection, and whether a request was sent on it.
    enum Use: Equatable {
        /// Nobody: it was just made, or it waits in the pool.
        case idle
        /// An exchange, which has flushed nothing yet.
        case lent
        /// An exchange whose first flush waits for the end of the loop's turn. A flush of the one before may wait, too.
        case asking
        /// An exchange that has sent at least a part of its request.
        case asked
        /// An exchange that was told that the connection is closed.
        case told
    }

    private enum Link {
        case open
        case closed
        /// It ended by a fault, a reset for example, and not by an orderly close.
        case broken(any Error)
    }

    /// What is done with bytes of the upstream.
    enum Reception {
        /// Give them to the exchange.
        case give
        /// Close the connection and take it out of the pool: no exchange has asked for them.
        case closeIdle
        /// Close the connection and tell the exchange, which has not asked for them yet.
        case closeLent
        /// Drop them: the connection is being closed.
        case drop
    }

    /// Who is told that the channel has closed.
    enum Closing {
        /// The exchange that has the connection.
        case tellUser
        /// The pool.
        case forget
        /// Nobody: the exchange was told before.
        case none
    }

    private(set) var use = Use.idle
    private var link = Link.open
    /// Whether the connection waits in the queue of those that are flushed.
    private var isFlushPending = false

    /// Whether it is not closed, according to the last events.
    var isOpen: Bool {
        if case .open = link { true } else { false }
    }

    /// The fault by which it ended; nil where it is open or was closed in order.
    var fault: (any Error)? {
        if case .broken(let fault) = link { fault } else { nil }
    }

    /// An exchange gets the connection. One that gets it from another, as a socket from its handshake, goes on with
    /// what that has sent.
    mutating func lend() {
        if use == .idle { use = .lent }
    }

    /// The exchange gives the connection up. Returns whether it had it.
    mutating func release() -> Bool {
        defer { use = .idle }
        return use != .idle
    }

    /// What was written is to be flushed. Returns whether the connection has to be put into the queue for that.
    mutating func flush() -> Bool {
        if use == .lent { use = .asking }
        defer { isFlushPending = true }
        return !isFlushPending
    }

    /// What was written is handed to the kernel now.
    mutating func flushed() {
        isFlushPending = false
        if use == .asking { use = .asked }
    }

    /// Bytes of the upstream have come.
    mutating func received() -> Reception {
        switch use {
        case .asked: return .give
        case .idle: return .closeIdle
        case .lent, .asking:
            use = .told
            return .closeLent
        case .told: return .drop
        }
    }

    /// The gateway closes the connection.
    mutating func close() {
        if case .open = link { link = .closed }
    }

    /// The channel has failed. The first fault counts.
    mutating func failed(_ fault: any Error) {
        switch link {
        case .open, .closed: link = .broken(fault)
        case .broken: break
        }
    }

    /// The channel is closed.
    mutating func closed() -> Closing {
        close()
        switch use {
        case .idle: return .forget
        case .lent, .asking, .asked:
            use = .told
            return .tellUser
        case .told: return .none
        }
    }
}
