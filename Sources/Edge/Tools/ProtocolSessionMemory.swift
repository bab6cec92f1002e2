import Caching
import StateSurface

/// The sessions of agent protocols that one event loop knows. Confined to its loop.
///
/// Only what the store has said is kept, for five minutes: a session that is unknown here is looked up.
package final class ProtocolSessionMemory {
    /// How long an entry is used, in milliseconds. Revocations are kept for longer.
    private static let memory: Int64 = 300_000
    private var known = BoundedCache<[UInt8], ProtocolSessionRecord>(capacity: 16_384)

    /// Creates an empty memory.
    package init() {}

    /// The session with this hash, if it is known.
    func session(_ hash: [UInt8], now: Int64) -> ProtocolSessionRecord? { known.value(for: hash, at: now) }

    /// How often something was forgotten. Read before the store is asked: what it says is kept only if nothing was
    /// forgotten meanwhile, since it may have been that session.
    private(set) var endings: UInt64 = 0

    /// Keeps a session as the store has it.
    ///
    /// - Parameter asked: ``endings`` when the store was asked.
    /// - Parameter now: in ms since the epoch; the entry is used for five minutes from then.
    func keep(_ record: ProtocolSessionRecord, asked: UInt64, now: Int64) {
        guard asked == endings else { return }
        known.insert(record, for: record.hash, until: now &+ Self.memory)
    }

    /// Forgets a session that has ended.
    func forget(_ hash: [UInt8]) {
        endings &+= 1
        _ = known.remove(hash)
    }

    /// Forgets everything, after changes may have been missed.
    func forgetAll() {
        endings &+= 1
        known.removeAll()
    }
}
