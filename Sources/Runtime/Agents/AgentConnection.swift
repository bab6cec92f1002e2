import StateSurface
import Synchronization

/// One agent's socket. Its intents run one after the other, each with the rights the session has by then.
package final class AgentConnection: Sendable {
    private struct Queue: Sendable {
        var waiting: [Intent] = []
        var isWorking = false
        var isOpen = true
        var whenRoom: (@Sendable () -> Void)?
    }

    private let permit: Permit
    private let listener: EventStreams.Listener
    private let streams: EventStreams
    private let runner: IntentRunner
    private let limits: AgentLimits
    private let confirm: @Sendable (Permit) async throws -> Renewal
    private let queue = Mutex(Queue())

    init(
        permit: Permit, listener: EventStreams.Listener, streams: EventStreams, runner: IntentRunner,
        limits: AgentLimits, confirm: @escaping @Sendable (Permit) async throws -> Renewal
    ) {
        self.permit = permit
        self.listener = listener
        self.streams = streams
        self.runner = runner
        self.limits = limits
        self.confirm = confirm
    }

    /// Takes one text frame. Never waits; what it comes to is sent later.
    package func receive(text: String) {
        self.receive(text.utf8)
    }

    /// Takes the bytes of one text frame. Never waits; what it comes to is sent later.
    package func receive(_ bytes: some Collection<UInt8>) {
        do {
            try self.enqueue(AgentProtocol.intent(bytes, isFrame: true, limits: self.limits))
        } catch {
            self.listener.emit(.message(AgentProtocol.fault(error)))
        }
    }

    /// Answers a frame that can't be an intent, such as a binary one.
    package func receiveUnreadable() {
        let fault = AgentFault(.invalidRequest, "Only text frames are understood.")
        self.listener.emit(.message(AgentProtocol.fault(fault)))
    }

    /// So many events have left for the peer: as many more may follow.
    package func written(events: Int) {
        self.streams.written(events, to: self.listener)
    }

    /// Whether another intent can wait. One that is handed in all the same is refused as `overloaded`.
    package var hasRoom: Bool { self.queue.withLock { $0.waiting.count < self.limits.maxQueued } }

    /// Sets what is called whenever half of a full queue has been worked off.
    package func whenRoom(_ call: @escaping @Sendable () -> Void) {
        self.queue.withLock { $0.whenRoom = call }
    }

    /// The socket is gone or must hear no more. What has begun goes on; what waits is dropped.
    package func detach() {
        self.queue.withLock { queue in
            queue.isOpen = false
            queue.waiting = []
            queue.whenRoom = nil
        }
        self.streams.remove(self.listener)
    }

    // MARK: Work

    private func enqueue(_ intent: Intent) throws(AgentFault) {
        enum Decision { case begin, wait, drop, refuse }
        let decision = self.queue.withLock { queue -> Decision in
            guard queue.isOpen else { return .drop }
            guard queue.waiting.count < self.limits.maxQueued else { return .refuse }
            queue.waiting.append(intent)
            guard !queue.isWorking else { return .wait }
            queue.isWorking = true
            return .begin
        }
        switch decision {
        case .begin: Task { await self.work() }
        case .wait, .drop: break
        case .refuse: throw AgentFault(.overloaded, "Too many intents are waiting.", intentID: intent.id)
        }
    }

    private func next() -> Intent? {
        let (intent, call) = self.queue.withLock { queue -> (Intent?, (@Sendable () -> Void)?) in
            guard !queue.waiting.isEmpty else {
                queue.isWorking = false
                return (nil, nil)
            }
            let intent = queue.waiting.removeFirst()
            return (intent, queue.waiting.count == self.limits.maxQueued / 2 ? queue.whenRoom : nil)
        }
        call?()
        return intent
    }

    private func work() async {
        while let intent = self.next() {
            do {
                // Asked anew each time: what was queued under an older epoch, or before a logout, never runs.
                switch try await self.confirm(self.permit) {
                case .holds(let permit): self.report(try await self.runner.run(intent, with: permit))
                case .ended: return self.end(.sessionEnded)
                case .outgrown: return self.end(.permitOutgrown)
                }
            } catch let fault as AgentFault {
                self.listener.emit(.message(AgentProtocol.fault(fault)))
            } catch {
                // It may have run all the same: its event, or that it is unknown, is for the stream to say.
                let fault = AgentFault(.storeUnavailable, "The store can't be reached.", intentID: intent.id)
                self.listener.emit(.message(AgentProtocol.fault(fault)))
            }
        }
    }

    /// Its peer has most likely ended it already: this is for the one that missed the moment.
    private func end(_ end: AgentEnd) {
        self.listener.emit(.end(end))
        self.detach()
    }

    private func report(_ outcome: IntentRunner.Outcome) {
        // A new event comes to every socket through the stream; so does an old one that this socket has yet to see.
        guard case .event(let event, isRepeat: true) = outcome, self.listener.delivered >= event.seq else { return }
        self.listener.emit(.event(event.payload))
    }
}
