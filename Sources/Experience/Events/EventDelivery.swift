import Encodings
import Libcrypto
import Logging
import StateSurface
import Synchronization
import Webhooks

/// Delivers the events of the store to their receivers, if this node is the one that does.
///
/// All nodes of a store write events; one of them sends, and holds a lease on that in the store. When it stops, another
/// takes over at once, and when it dies, after the lease has ended. Which event is sent when is decided by one
/// `DeliveryQueue` for each receiver, so that a receiver that is down delays no other. Everything below is done by one
/// task, except the requests themselves: a delivery that was taken has left the store before the store is read again.
final class EventDelivery: Sendable {
    /// How long a lease lasts, and how often it is taken again, in milliseconds.
    static let leaseTime: Int64 = 30_000
    /// How often the lease is taken again, in milliseconds: six times while it lasts, so that it outlives a store that
    /// is away for some seconds.
    static let leaseInterval: Int64 = 5_000
    /// How often everything that waits is read again, and the dead are cleared, in milliseconds.
    static let readInterval: Int64 = 10_000
    /// How long after something new was seen the store is read once more, in milliseconds: of two transactions, the one
    /// that began first may be done last.
    static let secondReadAfter: Int64 = 1_000
    /// How long dead letters are kept, in milliseconds.
    static let deadLetterTime: Int64 = 7 * 86_400_000

    private struct Answer: Sendable {
        let receiver: String
        let id: String
        let verdict: ReceiverVerdict
        /// When it came, in milliseconds since 1970.
        let at: Int64
    }

    private let receivers: EventReceivers
    private let store: any DeliveryStore
    private let sender: EventSender
    private let logger: Logger
    private let clock: @Sendable () -> Int64
    private let nodeID = Base64URL.encode(SecureRandom.bytes(12))
    private let wake: Wake
    /// The answers that have come since the last turn; they are put in by the tasks that send.
    private let inbox = Mutex<[Answer]>([])

    /// - Parameter wake: called when there may be something new in the store.
    /// - Parameter receivers: those of the configuration that the gateway was started with.
    init(
        receivers: EventReceivers, store: any DeliveryStore, sender: EventSender, wake: Wake, logger: Logger,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.receivers = receivers
        self.store = store
        self.sender = sender
        self.wake = wake
        self.logger = logger
        self.clock = clock
    }

    /// Delivers until the task is cancelled, and then lets another node do it. A turn is made four times a second, and
    /// at once when a request was answered or something was written. Requests that are under way when it is cancelled
    /// are cancelled with it; what they deliver may be sent again, with the same id, by the node that follows.
    func run() async {
        await withDiscardingTaskGroup { tasks in
            tasks.addTask {
                while !Task.isCancelled {
                    self.wake.up()
                    try? await Task.sleep(for: .milliseconds(250))
                }
            }
            var work = Work(receivers)
            for await _ in wake.calls {
                if Task.isCancelled { break }
                for (delivery, receiver) in await turn(&work) {
                    tasks.addTask { await self.send(delivery, to: receiver) }
                }
            }
            tasks.cancelAll()
        }
        // In a task of its own, because this one is cancelled.
        await Task.detached { [store, nodeID] in try? await store.releaseDeliveries(nodeID: nodeID) }.value
    }

    private func send(_ delivery: DeliveryRecord, to receiver: EventReceivers.Receiver) async {
        let (verdict, why) = await sender.send(delivery, to: receiver)
        let at = clock()
        if verdict != .delivered {
            logger.info(
                "an event was not taken",
                metadata: [
                    "event": "\(delivery.eventID)", "receiver": "\(receiver.place)", "why": "\(why)",
                    "attempt": "\(delivery.attempts + 1)",
                ])
        }
        inbox.withLock { $0.append(Answer(receiver: receiver.name, id: delivery.id, verdict: verdict, at: at)) }
        wake.up()
    }

    // MARK: One turn

    /// What the delivering task keeps between two turns.
    private struct Work {
        struct Line {
            let receiver: EventReceivers.Receiver
            var queue = DeliveryQueue()
            /// What the queue holds, as it is stored.
            var records: [String: DeliveryRecord] = [:]
            /// What was last said of its room in the store.
            var room: DeliveryRoom?
        }

        private let receivers: EventReceivers
        var lines: [Line] = []
        var leaseUntil = Int64.min
        var leaseAskedAt = Int64.min
        var isFailing = false
        var readAt = Int64.min
        var newest: Int64 = -1
        /// When to read once more; nil for not before something is new.
        var againAt: Int64?

        init(_ receivers: EventReceivers) {
            self.receivers = receivers
            forget()
        }

        /// Another node delivers: what is held here is no longer ours.
        mutating func forget() {
            lines = receivers.all.map { Line(receiver: $0) }
            (readAt, newest, againAt) = (.min, -1, nil)
        }
    }

    private typealias Sending = [(DeliveryRecord, EventReceivers.Receiver)]

    /// - Returns: what is to be sent now; empty while another node delivers.
    private func turn(_ work: inout Work) async -> Sending {
        let now = clock()
        guard await holdsLease(&work, now) else { return [] }
        var sending: Sending = []
        var settlements: [DeliverySettlement] = []
        let answers = inbox.withLock { inbox in
            defer { inbox = [] }
            return inbox
        }
        for answer in answers {
            guard let line = work.lines.firstIndex(where: { $0.receiver.name.hasSameBytes(as: answer.receiver) })
            else { continue }
            let event = DeliveryQueue.Event.answered(
                id: answer.id, answer.verdict, jitter: Double.random(in: 0..<1))
            act(on: work.lines[line].queue.handle(event, now: answer.at), line, &work, &sending, &settlements)
        }
        do {
            // What was taken leaves the store before the store is read.
            try await store.settle(deliveries: settlements)
            try await read(&work, now, &sending)
            work.isFailing = false
        } catch {
            // What was taken and is still in the store is sent once more.
            if !work.isFailing {
                logger.warning("the store of events can't be used", metadata: ["error": "\(error)"])
            }
            work.isFailing = true
        }
        for line in work.lines.indices {
            var none: [DeliverySettlement] = []
            act(on: work.lines[line].queue.handle(.tick, now: now), line, &work, &sending, &none)
        }
        return sending
    }

    /// Takes the lease, or goes on holding it. A store that can't be asked leaves it as it is, until its time is over.
    private func holdsLease(_ work: inout Work, _ now: Int64) async -> Bool {
        if now - Self.leaseInterval >= work.leaseAskedAt || now < work.leaseAskedAt {
            work.leaseAskedAt = now
            let until = now + Self.leaseTime
            if let isOurs = try? await store.leaseDeliveries(nodeID: nodeID, now: now, until: until) {
                if !isOurs, work.leaseUntil > .min {
                    logger.info("another node delivers events from now on")
                    work.forget()
                }
                // What was known before a lease that ran out unheard may have been delivered by another node since.
                if isOurs, work.leaseUntil > .min, now >= work.leaseUntil { work.forget() }
                work.leaseUntil = isOurs ? until : .min
            }
        }
        return now < work.leaseUntil
    }

    /// Reads what waits, if there can be something new.
    private func read(_ work: inout Work, _ now: Int64, _ sending: inout Sending) async throws {
        let newest = try await store.newestDelivery()
        let readsAll = now - Self.readInterval >= work.readAt || now < work.readAt
        if readsAll {
            try await removeDeadLetters(now)
            work.readAt = now
        } else if newest != work.newest {
            work.newest = newest
            work.againAt = work.againAt ?? now + Self.secondReadAfter
        } else {
            guard let againAt = work.againAt, now >= againAt else { return }
            work.againAt = nil
        }
        for line in work.lines.indices {
            try await load(line, &work, now, &sending)
        }
        try await sayRooms(&work, newest: newest, inAnyCase: readsAll)
    }

    private func load(_ line: Int, _ work: inout Work, _ now: Int64, _ sending: inout Sending) async throws {
        let queue = work.lines[line].queue
        let records = try await store.deliveries(
            receiver: work.lines[line].receiver.name, limit: queue.capacity + 1)
        for record in records { work.lines[line].records[record.id] = record }
        var none: [DeliverySettlement] = []
        let actions = work.lines[line].queue.handle(.loaded(records.map(Delivery.init)), now: now)
        act(on: actions, line, &work, &sending, &none)
    }

    /// Says how much room receivers have, so that those who write events need not count, and once in the log when one
    /// has none: the transactions that drop events have no log.
    private func sayRooms(_ work: inout Work, newest: Int64, inAnyCase: Bool) async throws {
        let limit = EventReceivers.roomPerReceiver
        var rooms: [DeliveryRoom] = []
        for line in work.lines {
            let name = line.receiver.name
            let waiting = try await store.waitingDeliveries(receiver: name, limit: limit)
            rooms.append(
                DeliveryRoom(receiver: name, waiting: waiting, newest: newest, limit: limit, before: line.room))
        }
        let haveNews = zip(work.lines, rooms).contains { $1.isNews(after: $0.room, limit: limit) }
        guard haveNews || inAnyCase else { return }
        try await store.set(deliveryRooms: rooms, by: nodeID)
        for (line, room) in zip(work.lines.indices, rooms) {
            if room.isFull, work.lines[line].room?.isFull != true {
                logger.warning(
                    "events are dropped: a receiver has not taken any for too long",
                    metadata: ["receiver": "\(work.lines[line].receiver.place)", "waiting": "\(limit)"])
            }
            work.lines[line].room = room
        }
    }

    /// Gives up what waits for receivers that are gone, and removes dead letters after ``deadLetterTime``.
    private func removeDeadLetters(_ now: Int64) async throws {
        // Those of receivers that are no longer configured; an hour later than others, which are given up one by one.
        let deadLettered = try await store.sweepDeliveries(
            createdUntil: now - Delivery.lifetime - 3_600_000, deadLetteredUntil: now - Self.deadLetterTime, at: now)
        guard deadLettered > 0 else { return }
        logger.error(
            "events were given up: their receivers are no longer configured", metadata: ["count": "\(deadLettered)"])
    }

    private func act(
        on actions: [DeliveryQueue.Action], _ line: Int, _ work: inout Work, _ sending: inout Sending,
        _ settlements: inout [DeliverySettlement]
    ) {
        for action in actions {
            switch action {
            case .send(let delivery):
                guard var record = work.lines[line].records[delivery.id] else { continue }
                record.attempts = Int64(delivery.attempts)
                sending.append((record, work.lines[line].receiver))
            case .store(let delivery):
                settlements.append(
                    .retry(id: delivery.id, attempts: Int64(delivery.attempts), dueAt: delivery.dueAt))
            case .remove(let delivery):
                work.lines[line].records[delivery.id] = nil
                settlements.append(.delivered(id: delivery.id))
            case .deadLetter(let delivery, let why):
                work.lines[line].records[delivery.id] = nil
                settlements.append(.deadLettered(id: delivery.id, reason: why.rawValue, at: clock()))
                logger.error(
                    "an event was given up",
                    metadata: [
                        "delivery": "\(delivery.id)", "receiver": "\(work.lines[line].receiver.place)",
                        "why": "\(why.rawValue)", "attempts": "\(delivery.attempts + 1)",
                    ])
            case .load: work.readAt = .min
            // The turns come often enough.
            case .wake: break
            }
        }
    }
}
