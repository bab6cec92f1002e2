import Synchronization

/// How many may wait for a connection of the store, and how long each.
struct WaitLimits: Sendable {
    var count = 4096
    var patience = Duration.seconds(5)
}

/// The items that wait for a connection, in the order in which they came, and the servers that have nothing to do.
///
/// An item that finds too many before it, or has waited until its deadline, is refused: a store that is slow or gone
/// neither fills the memory nor keeps its callers.
final class WaitQueue<Item: Sendable, Server: Sendable>: Sendable {
    private struct State {
        var waiting: [(item: Item, deadline: ContinuousClock.Instant)] = []
        var idle: [Server]
        var isSweeping = false
        var isClosed = false
    }

    private let limit: Int
    private let busy: StateSurfaceError
    private let refuse: @Sendable (Item, StateSurfaceError) -> Void
    private let state: Mutex<State>

    /// - Parameters:
    ///   - servers: all of them; they are idle.
    ///   - limit: how many may wait.
    ///   - busy: why an item is refused that may not wait, or no longer.
    ///   - refuse: tells it. Each item is either handed to a server or refused, once.
    init(
        servers: [Server], limit: Int, busy: String, refuse: @escaping @Sendable (Item, StateSurfaceError) -> Void
    ) {
        self.limit = limit
        self.busy = StateSurfaceError(.unavailable, busy)
        self.refuse = refuse
        state = Mutex(State(idle: servers))
    }

    /// Puts an item at the end of the queue, or refuses it.
    ///
    /// - Returns: a server that was idle and has to be started: it takes what ``next(for:atMost:)`` gives it until that
    ///   is nothing.
    func add(_ item: Item, until deadline: ContinuousClock.Instant) -> Server? {
        let (server, refusal) = state.withLock { state -> (Server?, StateSurfaceError?) in
            if state.isClosed { return (nil, Self.closed) }
            guard state.waiting.count < limit else { return (nil, busy) }
            state.waiting.append((item, deadline))
            if let server = state.idle.popLast() { return (server, nil) }
            if !state.isSweeping {
                state.isSweeping = true
                Task { [weak self] in await self?.sweep() }
            }
            return (nil, nil)
        }
        if let refusal { refuse(item, refusal) }
        return server
    }

    /// Takes items from the front of the queue. If there is none, the server is idle from now on.
    ///
    /// - Parameter count: how many to take at most, from how many there are.
    func next(for server: Server, atMost count: (Int) -> Int = { _ in 1 }) -> [Item] {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.idle.append(server)
                return []
            }
            let taken = state.waiting.prefix(max(1, count(state.waiting.count))).map { $0.item }
            state.waiting.removeFirst(taken.count)
            return taken
        }
    }

    /// Refuses all that wait, and all that come later.
    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { refuse(waiter.item, Self.closed) }
    }

    /// Refuses those whose deadline has passed, as long as there are any.
    private func sweep() async {
        var isNeeded = true
        while isNeeded {
            try? await Task.sleep(for: .milliseconds(250))
            let late = state.withLock { state in
                let now = ContinuousClock.now
                let late = state.waiting.filter { $0.deadline <= now }
                if !late.isEmpty { state.waiting.removeAll { $0.deadline <= now } }
                state.isSweeping = !state.waiting.isEmpty
                isNeeded = state.isSweeping
                return late
            }
            for waiter in late { refuse(waiter.item, busy) }
        }
    }

    private static var closed: StateSurfaceError { StateSurfaceError(.unavailable, "the store has been closed") }
}
