import Dispatch
import Encodings
import Logging
import Synchronization

/// The audit log: JSON lines, each chained to the previous one by its hash.
///
/// ``record(_:_:)`` costs a lock. Lines are chained, written and synced on a dispatch queue, many at once. A failing
/// disk is reported, and writing is tried again. Lines are dropped only when as many of them wait as an ``AuditBacklog``
/// takes, and a later line says how many were dropped.
final class AuditLog: Sendable {
    /// What waits for the writer. Guarded by the lock.
    private struct State {
        var backlog = AuditBacklog()
        var isScheduled = false
        var hasFailed = false
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "gatehouse.audit")
    private let owns: Bool
    private let logger: Logger
    private let clock: @Sendable () -> Int64
    // Used on `queue` only.
    private let file: QueueBound<AuditFile>

    /// Opens the log at `path`, and records that it was opened.
    ///
    /// - Parameters:
    ///   - owns: whether other gateways are kept away from the file.
    ///   - clock: milliseconds since the Unix epoch.
    init(
        path: String, owns: Bool = true, logger: Logger, clock: @escaping @Sendable () -> Int64
    ) throws(CommandFailure) {
        let file = try AuditFile(path, owns: owns)
        self.owns = owns
        // Written here, so that a damaged log is an error at the start.
        try file.append([(clock(), ["event": .string("audit.opened")])])
        self.file = QueueBound(file)
        self.logger = logger
        self.clock = clock
    }

    /// Appends one event. It does not wait for the disk.
    func record(_ event: String, _ members: JSONObject) {
        var line: JSONObject = ["event": .string(event)]
        for (name, value) in AuditScrub.clean(members).members where name != "event" { line[name] = value }
        let time = clock()
        let mustSchedule = state.withLock { state -> Bool in
            guard state.backlog.append(line, at: time) else { return false }
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { queue.async { self.flush() } }
    }

    /// Opens the file again by its name, after it was moved away: a new file goes on from the hash of the old one.
    func reopen() {
        queue.async { [self] in
            flush()
            do throws(CommandFailure) {
                try rotate()
            } catch {
                logger.error("the audit log can't be opened again", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// Goes on in the file that now has the name. A new one begins with the end of the old chain.
    private func rotate() throws(CommandFailure) {
        let old = file.value
        let probe = try AuditFile(old.path, owns: false)
        if probe.identity == old.identity {
            // Emptied in place: the same file goes on from its own last line.
            if probe.isEmpty { old.begin(after: old.position) } else { return }
        } else {
            // A command may have written the last line of the old file.
            try old.catchUp()
            let next = try AuditFile(old.path, owns: owns)
            if next.isEmpty { next.begin(after: old.position) }
            file.value = next
        }
        record("audit.opened", [:])
        flush()
    }

    /// Writes all waiting lines, and returns when they are synced. To be called last.
    func close() {
        queue.sync { flush() }
    }

    /// Writes what waits.
    private func flush() {
        let entries = state.withLock { state -> [AuditFile.Entry] in
            state.isScheduled = false
            return state.backlog.take()
        }
        guard !entries.isEmpty else { return }
        do {
            try file.value.append(entries)
            if state.withLock({ state in
                state.backlog.written()
                defer { state.hasFailed = false }
                return state.hasFailed
            }) {
                logger.notice("audit log is written again")
            }
        } catch {
            keep(after: error)
        }
    }

    /// Puts lines that could not be written back to the front, and tries again in a second.
    private func keep(after error: CommandFailure) {
        let isNew = state.withLock { state -> Bool in
            state.backlog.failed()
            state.isScheduled = true
            defer { state.hasFailed = true }
            return !state.hasFailed
        }
        if isNew { logger.error("audit log can't be written", metadata: ["reason": "\(error)"]) }
        queue.asyncAfter(deadline: .now() + .seconds(1)) { self.flush() }
    }
}

/// A value that is used on one dispatch queue only.
// @unchecked: the owner uses the value on its queue only.
private final class QueueBound<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
}
