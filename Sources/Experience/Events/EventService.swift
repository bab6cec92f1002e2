import IdentityProviders
import JOSE
import Logging
import SecurityGuard
import StateSurface
import Webhooks

/// Tells receivers what happens. The store writes what its transactions do (``EventReceivers/writer(clock:)``); failed
/// logins, which are in no transaction, are taken here. All are delivered from the store. Does nothing without
/// receivers.
final class EventService: Sendable {
    private let outbox: EventOutbox?
    private let receivers: EventReceivers
    private let store: any DeliveryStore
    private let logger: Logger
    private let clock: @Sendable () -> Int64
    private let wake = Wake()

    /// - Parameter store: has its transactions write events from now on.
    init(
        receivers: EventReceivers, store: any DeliveryStore, logger: Logger, clock: @escaping @Sendable () -> Int64
    ) {
        self.receivers = receivers
        self.store = store
        self.logger = logger
        self.clock = clock
        store.setEventWriter(receivers.writer(clock: clock))
        outbox =
            receivers.isEmpty
            ? nil : EventOutbox(receivers: receivers, store: store, logger: logger, written: wake)
    }

    /// Takes what receivers are told of an audit line. Does not block. May be called from any thread, before
    /// ``run(issuer:signingKey:fetch:)`` as well.
    func report(_ audit: AuditEvent) {
        guard let outbox, let event = WebhookEvent(audit, at: clock()) else { return }
        outbox.report(event)
    }

    /// Stores and delivers until the task is cancelled. To be called once.
    ///
    /// - Parameters:
    ///   - issuer: `tokens.issuer`.
    ///   - signingKey: the key that is active now.
    ///   - fetch: is shut down by its owner, after this has returned.
    func run(issuer: String, signingKey: @escaping @Sendable () -> SigningKey, fetch: GuardedFetch) async {
        guard let outbox else { return }
        let clock = clock
        let sender = EventSender(fetch: fetch) { event, audience in
            try SecurityEventToken.sign(event, issuer: issuer, audience: audience, with: signingKey(), now: clock())
        }
        let delivery = EventDelivery(
            receivers: receivers, store: store, sender: sender, wake: wake, logger: logger, clock: clock)
        async let writing: Void = outbox.run()
        async let delivering: Void = delivery.run()
        _ = await (writing, delivering)
    }

    /// Stores what was reported until now, when the gateway has drained.
    func flush() async { await outbox?.flush() }
}
