import Dispatch
import Encodings
import Logging
import Runtime
import Synchronization

/// The audit log: JSON lines, each chained to the previous one by its hash.
///
/// ``record(_:_:)`` costs a hash and a lock. Lines are written and synced on a dispatch queue, many at once. A failing
/// disk is reported, and writing is tried again. Lines are dropped only when ``longestQueue`` bytes are waiting, and a
/// later line says how many were dropped.
final class AuditLog: Sendable {
    private struct State {
        var chain: AuditChain
        var waiting: [UInt8] = []
        var lost: Int64 = 0
        var isScheduled = false
        var hasFailed = false
    }

    /// The number of bytes that may wait to be written.
    private static let longestQueue = 16 << 20

    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "gatehouse.audit")
    private let logger: Logger
    private let clock: @Sendable () -> Int64
    // Used on `queue` only.
    private let file: QueueBound<AuditFile>

    /// Opens the log at `path`, and records that it was opened.
    init(path: String, logger: Logger, clock: @escaping @Sendable () -> Int64) throws(CommandFailure) {
        let (file, chain, torn) = try AuditFile.open(path)
        self.file = QueueBound(file)
        self.logger = logger
        self.clock = clock
        state = Mutex(State(chain: chain))
        if let torn { record("audit.torn", torn) }
        record("audit.opened", [:])
    }

    /// Appends one event. It does not wait for the disk.
    func record(_ event: String, _ members: JSONObject) {
        var line: JSONObject = ["event": .string(event)]
        for (name, value) in AuditScrub.clean(members).members where name != "event" { line[name] = value }
        let time = Timestamp.text(clock())
        let mustSchedule = state.withLock { state -> Bool in
            guard state.waiting.count < Self.longestQueue else {
                state.lost += 1
                return false
            }
            if state.lost > 0 {
                let gap: JSONObject = ["event": "audit.gap", "lost": .integer(state.lost)]
                Self.append(gap, time, to: &state)
                state.lost = 0
            }
            Self.append(line, time, to: &state)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { queue.async { self.flush() } }
    }

    /// Writes all waiting lines, and returns when they are synced. To be called last.
    func close() {
        queue.sync { flush() }
    }

    private static func append(_ line: JSONObject, _ time: String, to state: inout State) {
        let text = state.chain.append(line, at: time)
        state.waiting += Array(text.utf8)
        state.waiting.append(UInt8(ascii: "\n"))
    }

    private func flush() {
        let bytes = state.withLock { state -> [UInt8] in
            state.isScheduled = false
            defer { state.waiting = [] }
            return state.waiting
        }
        guard !bytes.isEmpty else { return }
        do {
            try file.value.append(bytes)
            if state.withLock({ state in
                defer { state.hasFailed = false }
                return state.hasFailed
            }) {
                logger.notice("audit log is written again")
            }
        } catch {
            keep(bytes, after: error)
        }
    }

    /// Puts lines that could not be written back to the front, and tries again in a second.
    private func keep(_ bytes: [UInt8], after error: CommandFailure) {
        let isNew = state.withLock { state -> Bool in
            state.waiting = bytes + state.waiting
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
private struct QueueBound<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
