import Foundation
import Synchronization

/// The feed: a connection that reads the change log, when another node says that there is news and at least every half
/// second. It has its own thread, because it blocks.
///
/// Each look at the log is a heartbeat: everything committed before it was sent has been reported when it is done.
final class PostgresListener: Sendable {
    /// How often the log is read without being told to.
    private static let interval = Duration.milliseconds(500)
    /// The least time between two looks, and between two notifications that this node sends: many changes share one.
    static let pause = Duration.milliseconds(15)
    /// How long a look may take before the connection counts as lost.
    static let patience = Duration.seconds(2)
    /// The longest time between two looks. After it, as when the process was stopped, rows may have been removed that
    /// it has not read: they are kept for ``SettledSnapshots/age``.
    static let longestGap = Duration.seconds(30)
    private static let longestPause = Duration.seconds(1)

    let heartbeat = Heartbeat()
    private let settings: PostgresSettings
    private let origin: String
    private let observers: Observers
    private let isStopped = Atomic(false)
    private let wakePipe: WakePipe
    private let unknownCommits = Mutex(UnknownCommits())
    private let snapshots = Mutex(SettledSnapshots())
    private let clock: @Sendable () -> ContinuousClock.Instant

    /// - Parameter clock: the time by which snapshots and commits that were given up on grow old.
    init(
        _ settings: PostgresSettings, origin: String, observers: Observers,
        clock: @escaping @Sendable () -> ContinuousClock.Instant
    ) throws {
        self.settings = settings
        self.origin = origin
        self.observers = observers
        self.clock = clock
        wakePipe = try WakePipe()
    }

    /// Returns when the feed is listening, so that no change is missed between opening the store and reading it.
    func start() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let thread = Thread { self.run(whenListening: { continuation.resume(with: $0) }) }
            thread.name = "gatehouse.feed"
            thread.start()
        }
    }

    /// Reads this node's own changes, too, for as long as a commit that was given up on just now may still be done.
    func readOwn() { unknownCommits.withLock { $0.add(at: clock()) } }

    /// Whether this node reads its own changes, too.
    var readsOwn: Bool { unknownCommits.withLock { $0.areOpen } }

    /// A snapshot of which every node has read the rows that it shows; nil if there is none yet, in the first minute of
    /// a connection.
    func settledSnapshot() -> String? { snapshots.withLock { $0.settled(at: clock()) } }

    /// Tells the other nodes that there is news in the log. It returns at once, and may be called on any thread.
    func wakeOthers() { wakePipe.signal() }

    func stop() {
        isStopped.store(true, ordering: .relaxed)
        wakePipe.signal()
    }

    private func run(whenListening: (Result<Void, any Error>) -> Void) {
        do {
            var reader = try listen()
            heartbeat.proved(at: .now)
            whenListening(.success(()))
            try? serve(&reader)
            lostConnection()
        } catch {
            return whenListening(.failure(error))
        }
        var pause = Duration.milliseconds(100)
        while !isStopped.load(ordering: .relaxed) {
            Thread.sleep(forTimeInterval: pause / .seconds(1))
            pause = min(pause * 2, Self.longestPause)
            guard var reader = try? listen() else { continue }
            pause = .milliseconds(100)
            // The gap is reported before the heartbeats resume, so that caches are invalidated before the feed counts
            // as alive.
            observers.notify([.reset])
            try? serve(&reader)
            lostConnection()
        }
    }

    private func lostConnection() {
        heartbeat.lost()
        snapshots.withLock { $0.lostConnection() }
        unknownCommits.withLock { $0.lostConnection() }
    }

    /// A connection that listens, and its place in the log.
    private struct Reader {
        let connection: Connection
        /// The snapshot of the last look, as PostgreSQL writes it.
        var position: String
        /// A time before that snapshot was taken.
        var lookedAt: ContinuousClock.Instant
        /// The server's time of that snapshot, in ms. This node's clock may stand still while its machine is paused.
        var serverTime: Int64
    }

    private func listen() throws -> Reader {
        // A server that takes the connection and does not answer is not waited for longer than one that did before.
        let connection = try settings.connect(patience: Self.patience)
        // What it sends need not be durable.
        _ = try connection.run("SET synchronous_commit = off; LISTEN \(PostgresChangeLog.wakeChannel)")
        let lookedAt = clock()
        var row = try connection.query(PostgresChangeLog.position, []).rows.first
        guard let position = try row?.text(), let serverTime = try row?.integer() else {
            throw PostgresFault.lost("the server lost its place")
        }
        return Reader(connection: connection, position: position, lookedAt: lookedAt, serverTime: serverTime)
    }

    /// Returns when it is stopped, and throws when the connection is lost.
    private func serve(_ reader: inout Reader) throws {
        let ownBackend = reader.connection.backendID
        var lastLook = ContinuousClock.now - Self.interval
        var lastWake = lastLook
        var hasNews = true
        var mustWake = false
        while !isStopped.load(ordering: .relaxed) {
            let now = ContinuousClock.now
            if mustWake, lastWake.duration(to: now) >= Self.pause {
                _ = try reader.connection.run("NOTIFY \(PostgresChangeLog.wakeChannel)")
                (mustWake, lastWake) = (false, now)
            }
            if (hasNews && lastLook.duration(to: now) >= Self.pause) || lastLook.duration(to: now) >= Self.interval {
                try look(&reader)
                (hasNews, lastLook) = (false, now)
            }
            let next = min(
                lastLook + (hasNews ? Self.pause : Self.interval),
                mustWake ? lastWake + Self.pause : now + Self.interval)
            let wait = ContinuousClock.now.duration(to: next) / .milliseconds(1)
            let found = try reader.connection.receive(
                milliseconds: max(0, Int64(wait.rounded(.up))), or: wakePipe.reading)
            if found.contains(where: { $0.backendID != ownBackend }) { hasNews = true }
            if wakePipe.takeSignal() { mustWake = true }
        }
    }

    /// Reports what was added to the log since the last look, and proves that nothing is missing.
    private func look(_ reader: inout Reader) throws {
        let (start, lookedAt) = (ContinuousClock.now, clock())
        let includesOwn = readsOwn
        let rows = try reader.connection.query(
            PostgresChangeLog.news, [.text(reader.position), .text(includesOwn ? "" : origin)]
        ).rows
        // A commit that was given up on meanwhile may be among what was passed over: this looks from the same position
        // again, with the node's own rows. Only this thread ends their reading, so it looks at most twice.
        if !includesOwn, readsOwn { return try look(&reader) }
        guard var first = rows.first else { throw PostgresFault.lost("the server lost its place") }
        let (position, serverTime) = (try first.text(), try first.integer().magnitude)
        let gap = max(
            reader.lookedAt.duration(to: clock()),
            .milliseconds(Int64(clamping: serverTime) - reader.serverTime))
        guard gap < Self.longestGap else {
            throw PostgresFault.lost("the change log was not read for too long")
        }
        let changes = try rows.dropFirst().flatMap { row in
            var row = row
            return PostgresChangeLog.changes(in: try row.text())
        }
        (reader.position, reader.lookedAt, reader.serverTime) = (position, lookedAt, Int64(clamping: serverTime))
        observers.notify(changes)
        heartbeat.proved(at: start)
        snapshots.withLock { $0.add(position, takenBy: clock()) }
        if includesOwn { try judgeUnknownCommits(reader) }
    }

    /// Finds out whether the commits that were given up on have been decided, after a look that included this node's
    /// own rows.
    private func judgeUnknownCommits(_ reader: Reader) throws {
        if let xmin = PostgresChangeLog.xmin(of: reader.position) {
            unknownCommits.withLock { $0.looked(xmin: xmin) }
        }
        let instant = clock()
        guard unknownCommits.withLock({ $0.needsBound(at: instant) }),
            let number = try UInt64(Self.text(PostgresChangeLog.number, on: reader.connection))
        else { return }
        unknownCommits.withLock { $0.setBound(number, askedAt: instant) }
    }

    /// The one text that a statement answers with.
    private static func text(_ sql: String, on connection: Connection) throws -> String {
        var row = try connection.query(sql, []).rows.first
        guard let text = try row?.text() else { throw PostgresFault.lost("the server lost its place") }
        return text
    }
}
