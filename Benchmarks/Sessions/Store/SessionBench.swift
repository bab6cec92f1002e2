import Dispatch
import Foundation
import Runtime
import StateSurface
import TrafficCop

/// Measures the store and the sessions in memory without HTTP. Each command prints one number per line, as `name
/// value`.
///
/// - `write URL GROUP CALLERS SECONDS`: durable creations a second.
/// - `change URL CALLERS SECONDS`: durable changes a second of sessions that exist, each with a new owner, epoch and
///   secret as an upgrade has.
/// - `fill URL COUNT`: puts live sessions into a store.
/// - `lookup URL COUNT`: loads that many of them into memory and looks them up.
/// - `memory-table slots|dictionary COUNT`: remembers that many, without a store, in the gateway's own table or in a
///   plain dictionary, and looks them up.
@main
enum SessionBench {
    static let clock: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }

    static func main() async {
        guard let command = BenchCommand(Array(CommandLine.arguments.dropFirst())) else {
            print(
                "usage: session-bench write URL GROUP CALLERS SECONDS | change URL CALLERS SECONDS | fill URL COUNT "
                    + "| lookup URL COUNT | memory-table slots|dictionary COUNT")
            exit(2)
        }
        do {
            try await run(command)
        } catch {
            // An error thrown by `main` would be a crash with a backtrace, so it is printed here.
            FileHandle.standardError.write(Data("session-bench: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ command: BenchCommand) async throws {
        switch command {
        case .write(let url, let group, let callers, let seconds):
            let store = try await StateSurfaceFactory.open(url: url, clock: clock, sqliteGroup: group)
            print("writes_per_second", try await write(store, callers: callers, seconds: seconds))
            await store.close()
        case .change(let url, let callers, let seconds):
            let store = try await StateSurfaceFactory.open(url: url, clock: clock)
            print("changes_per_second", try await change(store, callers: callers, seconds: seconds))
            await store.close()
        case .fill(let url, let count):
            let store = try await StateSurfaceFactory.open(url: url, clock: clock)
            let took = try await fill(store, count: count)
            print("filled_per_second", BenchFigure.perSecond(count, in: took))
            await store.close()
        case .lookup(let url, let count):
            let start = ContinuousClock.now
            let store = try await StateSurfaceFactory.open(url: url, clock: clock)
            print("open_milliseconds", BenchFigure.whole(start.duration(to: .now) / .milliseconds(1)))
            try await lookup(store, count: count)
            await store.close()
        case .memoryTable(.slots, let count):
            let view = SessionView()
            let before = residentMemory()
            let took = remember(count) { view.remember($0, readAfter: view.mark()) }
            report(count, took, before)
            measureLookups(count) { session, user, now in
                if case .granted = view.admit(sessionID: session, tenantID: "bench", userID: user, now: now) {
                    true
                } else {
                    false
                }
            }
        case .memoryTable(.dictionary, let count):
            let view = DictionaryView()
            let before = residentMemory()
            let took = remember(count) { view.remember($0) }
            report(count, took, before)
            measureLookups(count) { session, user, now in
                view.admit(sessionID: session, tenantID: "bench", userID: user, now: now) != nil
            }
        }
    }

    /// - Returns: the time that `insert` has taken, without that for making the records.
    private static func remember(_ count: Int, _ insert: (SessionRecord) -> Void) -> Duration {
        var spent = Duration.zero
        for start in stride(from: 0, to: count, by: 1_024) {
            let records = (start..<min(start + 1_024, count)).map {
                record(BenchNames.session($0), user: BenchNames.user($0))
            }
            let begin = ContinuousClock.now
            for record in records { insert(record) }
            spent += begin.duration(to: .now)
        }
        return spent
    }

    private static func report(_ count: Int, _ took: Duration, _ before: Int) {
        print("inserts_per_second", BenchFigure.perSecond(count, in: took))
        print("resident_mebibytes", residentMemory() >> 20)
        print("bytes_per_session", (residentMemory() - before) / count)
    }

    private static func record(_ id: String, user: String) -> SessionRecord {
        let now = clock()
        return SessionRecord(
            id: id, state: .authenticated, tenantID: "bench", userID: user, createdAt: now, lastSeenAt: now,
            idleTimeout: 43_200_000, absoluteExpiresAt: now + 2_592_000_000, secretHash: SessionSecret().hash,
            familyID: String(id.dropFirst(4)))
    }

    private static func write(_ store: any StateSurface, callers: Int, seconds: Int) async throws -> Int {
        let end = ContinuousClock.now + .seconds(seconds)
        let start = ContinuousClock.now
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<callers {
                group.addTask {
                    var count = 0
                    while ContinuousClock.now < end {
                        let now = clock()
                        try await store.insert(
                            session: SessionRecord(
                                id: BenchNames.session(.random(in: .min ... .max)), state: .anonymous, createdAt: now,
                                lastSeenAt: now, idleTimeout: 1_800_000, absoluteExpiresAt: now + 86_400_000,
                                secretHash: SessionSecret().hash))
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return BenchFigure.perSecond(count, in: start.duration(to: .now))
    }

    /// The sessions that each caller changes in turn.
    private static let changedByCaller = 16

    private static func change(_ store: any StateSurface, callers: Int, seconds: Int) async throws -> Int {
        // Names of its own, so that it can run again on the same store.
        let first = Int.random(in: 0..<1 << 60)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in first..<first + callers * changedByCaller {
                group.addTask {
                    try await store.insert(session: record(BenchNames.session(number), user: BenchNames.user(number)))
                }
            }
            try await group.waitForAll()
        }
        let end = ContinuousClock.now + .seconds(seconds)
        let start = ContinuousClock.now
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    let ids = (0..<changedByCaller).map { BenchNames.session(first + caller * changedByCaller + $0) }
                    var count = 0
                    while ContinuousClock.now < end {
                        let done = try await store.change(sessionID: ids[count % ids.count]) { session in
                            guard var next = session else { return (nil, false) }
                            next.epoch += 1
                            next.previousSecretHash = next.secretHash
                            next.secretHash = SessionSecret().hash
                            return (next, true)
                        }
                        if done == true { count += 1 }
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return BenchFigure.perSecond(count, in: start.duration(to: .now))
    }

    private static func fill(_ store: any StateSurface, count: Int) async throws -> Duration {
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<256 {
                group.addTask {
                    for number in stride(from: caller, to: count, by: 256) {
                        try await store.insert(
                            session: record(BenchNames.session(number), user: BenchNames.user(number)))
                    }
                }
            }
            try await group.waitForAll()
        }
        return start.duration(to: .now)
    }

    private static let batch = 64

    private static func lookup(_ store: any StateSurface, count: Int) async throws {
        let before = residentMemory()
        let runtime = Runtime(state: store, trafficCop: TrafficCop(clock: clock), clock: clock)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<16 {
                group.addTask {
                    for number in stride(from: caller, to: count, by: 16) {
                        _ = try await runtime.admit(
                            sessionID: BenchNames.session(number), tenantID: "bench", userID: BenchNames.user(number))
                    }
                }
            }
            try await group.waitForAll()
        }
        print("resident_mebibytes", residentMemory() >> 20)
        print("bytes_per_session", (residentMemory() - before) / count)

        measureLookups(count) { session, user, now in
            let admission = runtime.view.admit(sessionID: session, tenantID: "bench", userID: user, now: now)
            if case .granted = admission { return true }
            return false
        }
    }

    /// Looks random sessions up, five times as many as are printed, and prints the best round.
    private static func measureLookups(
        _ count: Int, _ admit: (_ session: String, _ user: String, _ now: Int64) -> Bool
    ) {
        var dice = SystemRandomNumberGenerator()
        let asked = (0..<200_000).map { _ in Int.random(in: 0..<count, using: &dice) }
            .map { (BenchNames.session($0), BenchNames.user($0)) }
        let now = clock()
        var granted = 0
        var best = Double.infinity
        for _ in 0..<5 {
            var spent = Duration.zero
            for start in stride(from: 0, to: asked.count, by: batch) {
                // The names are prepared, like those of a request that has been parsed, so that only the lookup is
                // measured.
                let names = asked[start..<min(start + batch, asked.count)].map {
                    (
                        String(decoding: Array($0.0.utf8), as: UTF8.self),
                        String(decoding: Array($0.1.utf8), as: UTF8.self)
                    )
                }
                let begin = ContinuousClock.now
                for (session, user) in names {
                    if admit(session, user, now) { granted += 1 }
                }
                spent += begin.duration(to: .now)
            }
            best = min(best, spent / .nanoseconds(1) / Double(asked.count))
        }
        print("lookup_nanoseconds", BenchFigure.whole(best))
        print("lookups_granted_percent", granted * 100 / (asked.count * 5))
    }

    private static func residentMemory() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = status.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(getpagesize())
    }
}
