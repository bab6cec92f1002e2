import Foundation
import Synchronization

/// The feed: a connection that listens for notifications. It has its own thread, because it blocks.
///
/// A heartbeat is a notification to itself. Notifications arrive in the order of commit, so when it arrives, everything
/// committed before it was sent has been reported.
final class PostgresListener: Sendable {
    private static let interval = Duration.milliseconds(500)
    private static let patience = Duration.seconds(2)
    private static let longestPause = Duration.seconds(1)

    let beat = Beat()
    private let settings: PostgresSettings
    private let origin: String
    private let observers: Observers
    private let isStopped = Atomic(false)

    init(_ settings: PostgresSettings, origin: String, observers: Observers) {
        self.settings = settings
        self.origin = origin
        self.observers = observers
    }

    /// Returns when the feed is listening, so that no change is missed between opening the store and reading it.
    func start() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let thread = Thread { self.run(whenListening: { continuation.resume(with: $0) }) }
            thread.name = "gatehouse.feed"
            thread.start()
        }
    }

    func stop() {
        isStopped.store(true, ordering: .relaxed)
    }

    private func run(whenListening: (Result<Void, any Error>) -> Void) {
        do {
            let first = try listen()
            beat.proved(at: .now)
            whenListening(.success(()))
            try? serve(first)
            beat.lost()
        } catch {
            return whenListening(.failure(error))
        }
        var pause = Duration.milliseconds(100)
        while !isStopped.load(ordering: .relaxed) {
            Thread.sleep(forTimeInterval: pause / .seconds(1))
            pause = min(pause * 2, Self.longestPause)
            guard let connection = try? listen() else { continue }
            pause = .milliseconds(100)
            // The gap is reported before the heartbeats resume, so that caches are invalidated before the feed counts
            // as alive.
            observers.tell([.reset])
            try? serve(connection)
            beat.lost()
        }
    }

    private var beatChannel: String { "gatehouse_beat_\(origin)" }

    private func listen() throws -> Connection {
        let connection = try settings.connect()
        // Heartbeats need not be durable.
        _ = try connection.run(
            """
            SET synchronous_commit = off; LISTEN \(PostgresTransaction.channel); LISTEN \(beatChannel)
            """)
        return connection
    }

    /// Returns when it is stopped, and throws when the connection is lost.
    private func serve(_ connection: Connection) throws {
        var pending: (number: String, sentAt: ContinuousClock.Instant)?
        var nextBeat = ContinuousClock.now
        var count = 0
        while !isStopped.load(ordering: .relaxed) {
            let now = ContinuousClock.now
            if let pending, pending.sentAt.duration(to: now) > Self.patience {
                throw PostgresFault.lost("a beat did not come back")
            }
            if pending == nil, now >= nextBeat {
                count += 1
                pending = ("\(count)", now)
                nextBeat = now + Self.interval
                try connection.post("NOTIFY \(beatChannel), '\(count)'")
            }
            for notification in try connection.receive(milliseconds: 100) {
                if notification.channel == PostgresTransaction.channel {
                    tell(notification.payload)
                } else if let proof = pending, notification.payload == proof.number {
                    beat.proved(at: proof.sentAt)
                    pending = nil
                }
            }
        }
    }

    private func tell(_ payload: String) {
        guard let changes = PostgresTransaction.changes(inPayload: payload, except: origin) else { return }
        observers.tell(changes)
    }
}
