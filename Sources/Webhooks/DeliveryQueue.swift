/// The deliveries of one node: which is sent when. Events in, actions out, the clock handed in; it sends and stores
/// nothing itself.
///
/// Of each lane only the first delivery is sent, and the next one when that is delivered or given up: in order per
/// session. A delivery leaves the store after it was taken, so a crash between the two sends it once more: at least
/// once.
package struct DeliveryQueue: Sendable {
    /// What happened.
    package enum Event: Sendable {
        /// The oldest deliveries of the store, in their order; those that are known already are passed over.
        case loaded([Delivery])
        /// The receiver answered, or did not.
        case answered(id: String, ReceiverVerdict, jitter: Double)
        /// Time went by.
        case tick
    }

    /// What is to be done.
    package enum Action: Sendable, Equatable {
        case send(Delivery)
        /// Keep the new number of attempts and the new time.
        case store(Delivery)
        /// It was taken: remove it.
        case remove(Delivery)
        /// It was given up: keep it as a dead letter, and say so in the log.
        case deadLetter(Delivery, Delivery.DeadLetter)
        /// There is room again for those that were left in the store: load the oldest.
        case load
        /// Nothing is due before this time.
        case wake(at: Int64)
    }

    /// The most deliveries held in memory, and sent at a time.
    package let capacity: Int
    package let width: Int

    private var lanes: [Delivery.Lane: [Delivery]] = [:]
    private var known: [String: Delivery.Lane] = [:]
    private var underway: Set<String> = []
    /// Some were left in the store for lack of room; until ``Action/load`` later ones stay there too, or they would
    /// come first.
    private var isShort = false

    package init(capacity: Int = 1000, width: Int = 16) {
        self.capacity = max(1, capacity)
        self.width = max(1, width)
    }

    /// How many deliveries are held.
    package var count: Int { known.count }

    /// Takes an event.
    ///
    /// - Parameter now: milliseconds since 1970.
    package mutating func handle(_ event: Event, now: Int64) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .tick: break
        case .loaded(let deliveries): load(deliveries)
        case .answered(let id, let verdict, let jitter): actions += answer(id, verdict, jitter: jitter, now)
        }
        return actions + sends(now)
    }

    private mutating func load(_ deliveries: [Delivery]) {
        guard !isShort else { return }
        for delivery in deliveries where known[delivery.id] == nil {
            guard known.count < capacity else {
                isShort = true
                break
            }
            known[delivery.id] = delivery.lane
            var lane = lanes[delivery.lane] ?? []
            let place = lane.lastIndex { $0.sequence < delivery.sequence }.map { $0 + 1 } ?? 0
            // Nothing goes in front of what is under way.
            let isUnderway = lane.first.map { underway.contains($0.id) } ?? false
            lane.insert(delivery, at: isUnderway ? max(place, 1) : place)
            lanes[delivery.lane] = lane
        }
    }

    private mutating func answer(
        _ id: String, _ verdict: ReceiverVerdict, jitter: Double, _ now: Int64
    ) -> [Action] {
        // An answer to what is not under way comes from a time before: it changes nothing.
        guard underway.remove(id) != nil, let lane = known[id], let delivery = lanes[lane]?.first,
            delivery.id == id
        else { return [] }
        switch delivery.outcome(verdict, now: now, jitter: jitter) {
        case .retry(let next):
            lanes[lane]?[0] = next
            return [.store(next)]
        case .delivered:
            removeFirst(of: lane)
            return [.remove(delivery)] + loadAgain()
        case .dead(let why):
            removeFirst(of: lane)
            return [.deadLetter(delivery, why)] + loadAgain()
        }
    }

    private mutating func removeFirst(of lane: Delivery.Lane) {
        guard var rest = lanes[lane], !rest.isEmpty else { return }
        known[rest.removeFirst().id] = nil
        lanes[lane] = rest.isEmpty ? nil : rest
    }

    /// Asks once for what was left in the store, when half of the room is free.
    private mutating func loadAgain() -> [Action] {
        guard isShort, known.count <= capacity / 2 else { return [] }
        isShort = false
        return [.load]
    }

    /// Sends what is due, the longest due first, and says when to come back.
    private mutating func sends(_ now: Int64) -> [Action] {
        let waiting = lanes.values.compactMap(\.first).filter { !underway.contains($0.id) }
            .sorted { ($0.dueAt, $0.sequence, $0.id) < ($1.dueAt, $1.sequence, $1.id) }
        var actions: [Action] = []
        for delivery in waiting where delivery.dueAt <= now && underway.count < width {
            underway.insert(delivery.id)
            actions.append(.send(delivery))
        }
        // What is due and finds no room goes when an answer makes some; only times to come need a clock.
        if let next = waiting.first(where: { $0.dueAt > now }) { actions.append(.wake(at: next.dueAt)) }
        return actions
    }
}
