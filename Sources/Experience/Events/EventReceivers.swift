import EdgeConfiguration
import Encodings
import StateSurface
import Webhooks

/// The receivers of the configuration, and what each is told.
package struct EventReceivers: Sendable {
    /// One of them.
    struct Receiver: Sendable, Equatable {
        /// Under which its deliveries are stored: its URL.
        let name: String
        /// What it is told of; empty for nothing.
        let kinds: Set<WebhookEvent.Kind>
        /// Whether its name may lead to private and loopback addresses (`allow_private`). Of two entries with one URL
        /// both must say so.
        let allowsPrivate: Bool

        /// How logs call it: without path and query, which may contain a secret.
        var place: String {
            guard let mark = name.firstRange(of: "://") else { return "a receiver" }
            let authority = name[mark.upperBound...].prefix { $0 != "/" && $0 != "?" }
            return String(name[..<mark.upperBound] + authority)
        }
    }

    /// The most deliveries that wait for one receiver in the store. Beyond it, new events for that receiver are
    /// dropped.
    package static let roomPerReceiver = 10_000

    /// In the order of the configuration, at most 32.
    let all: [Receiver]

    /// The receivers of `events`. Entries with the same URL are one.
    package init(_ configuration: [EventReceiverConfiguration]) {
        var all: [Receiver] = []
        for entry in configuration {
            let kinds = Set(entry.events.compactMap { WebhookEvent.Kind(rawValue: $0.rawValue) })
            if let place = all.firstIndex(where: { $0.name.hasSameBytes(as: entry.url) }) {
                let known = all[place]
                all[place] = Receiver(
                    name: known.name, kinds: known.kinds.union(kinds),
                    allowsPrivate: known.allowsPrivate && entry.allowPrivate)
            } else {
                all.append(Receiver(name: entry.url, kinds: kinds, allowsPrivate: entry.allowPrivate))
            }
        }
        self.all = all
    }

    /// Whether there is any receiver.
    package var isEmpty: Bool { all.isEmpty }

    /// The deliveries of an event: one for each receiver that wants to know of its kind. Deliveries with the same lane
    /// are sent one after the other: those of a session in its order. Events without a session have a lane each.
    package func deliveries(of event: WebhookEvent) -> [DeliveryRecord] {
        let lane = event.session ?? event.id
        return all.enumerated().filter { $0.element.kinds.contains(event.kind) }.map { index, receiver in
            DeliveryRecord(
                id: "\(event.id).\(index)", receiver: receiver.name, lane: lane, eventID: event.id,
                payload: event.stored, createdAt: event.occurredAt, dueAt: event.occurredAt)
        }
    }
}

extension Delivery {
    /// A stored delivery as the queue sees it.
    init(_ record: DeliveryRecord) {
        self.init(
            id: record.id, lane: Lane(receiver: record.receiver, key: record.lane), sequence: record.sequence,
            createdAt: record.createdAt, attempts: Int(clamping: record.attempts), dueAt: record.dueAt)
    }
}
