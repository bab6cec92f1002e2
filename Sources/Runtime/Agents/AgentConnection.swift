import StateSurface
import Synchronization

/// An agent's socket. Its intents run one after the other, each with the rights that the session has at that time.
///
/// It is made by ``Runtime/attach(permit:resumeFrom:window:send:)``, and its functions may be called from any thread.
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

    /// Receives a text message. It does not wait; the result is sent later.
    package func receive(text: String) {
        receive(text.utf8)
    }

    /// Receives the bytes of a text message. It does not wait; the result is sent later.
    package func receive(_ bytes: some Collection<UInt8>) {
        do {
            try enqueue(AgentProtocol.intent(bytes, isFrame: true, limits: limits))
        } catch {
            listener.emit(.message(AgentProtocol.fault(error)))
        }
    }

    /// Answers a message that can't be an intent, such as a binary one.
    package func receiveUnreadable() {
        let fault = AgentFault(.invalidRequest, "Only text frames are understood.")
        listener.emit(.message(AgentProtocol.fault(fault)))
    }

    /// Tells that this many events have been written to the peer, so that as many more may be sent.
    ///
    /// - Parameter events: how many ``AgentOutput/event(_:)`` were written. Messages outside the stream are not
    ///   counted.
    package func written(events: Int) {
        streams.written(events, to: listener)
    }

    /// Whether there is room in the queue of intents. If not, further intents are refused as `overloaded`.
    package var hasRoom: Bool { queue.withLock { $0.waiting.count < self.limits.maxQueued } }

    /// Sets the closure that is called whenever a full queue has become half empty.
    package func whenRoom(_ call: @escaping @Sendable () -> Void) {
        queue.withLock { $0.whenRoom = call }
    }

    /// Detaches the socket. A running intent continues; waiting ones are dropped.
    package func detach() {
        queue.withLock { queue in
            queue.isOpen = false
            queue.waiting = []
            queue.whenRoom = nil
        }
        streams.remove(listener)
    }

    // MARK: Work

    private func enqueue(_ intent: Intent) throws(AgentFault) {
        enum Decision { case begin, wait, drop, refuse }
        let decision = queue.withLock { queue -> Decision in
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
        let (intent, call) = queue.withLock { queue -> (Intent?, (@Sendable () -> Void)?) in
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
        while let intent = next() {
            do {
                // Checked for each intent, so that one that was queued in an older epoch, or before a logout, never
                // runs.
                switch try await confirm(self.permit) {
                case .holds(let permit): try report(await runner.run(intent, with: permit), of: intent)
                case .ended: return end(.sessionEnded)
                case .outgrown: return end(.permitOutgrown)
                }
            } catch let fault as AgentFault {
                listener.emit(.message(AgentProtocol.fault(fault)))
            } catch {
                // The intent may have run; if so, its event will be in the stream.
                let fault = AgentFault(.storeUnavailable, "The store can't be reached.", intentID: intent.id)
                listener.emit(.message(AgentProtocol.fault(fault)))
            }
        }
    }

    /// Ends the connection, if the edge has not done so already.
    private func end(_ end: AgentEnd) {
        listener.emit(.end(end))
        detach()
    }

    /// Events reach sockets through the stream. The outcome of an id that was used before is sent again.
    private func report(_ outcome: IntentRunner.Outcome, of intent: Intent) throws(AgentFault) {
        guard case .event(let event, isRepeat: true) = outcome else { return }
        guard listener.emitAgain(event, atMost: limits.maxQueued) else {
            throw AgentFault(.overloaded, "Too many outcomes wait to be read.", intentID: intent.id)
        }
    }
}
