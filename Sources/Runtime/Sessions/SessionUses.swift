import StateSurface
import Synchronization

/// The uses of sessions that have not been written yet. Many of them become one write.
///
/// Until that write has completed, they are applied to every session that is loaded here, so that a session in use is
/// not found idle on the node where it is used.
final class SessionUses: Sendable {
    private struct State {
        var pending: [String: Milliseconds] = [:]
        var flushing: [String: Milliseconds] = [:]
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// No uses yet, with room for those of `capacity` sessions between two writes.
    init(capacity: Int = 200_000) {
        self.capacity = capacity
    }

    /// Records a use of a session. False if there are too many, so that they should be written soon.
    ///
    /// - Returns: whether the use was recorded. When it was not, the session may be found idle too early by other
    ///   nodes.
    @discardableResult
    func note(_ id: String, at now: Milliseconds) -> Bool {
        state.withLock { state in
            guard state.pending.count < self.capacity || state.pending[id] != nil else { return false }
            state.pending[id] = max(now, state.pending[id] ?? now)
            return true
        }
    }

    /// The record with the latest use that this node knows of.
    func apply(to record: SessionRecord) -> SessionRecord {
        guard record.state.isLive else { return record }
        let latest = state.withLock { state in
            max(state.pending[record.id] ?? .min, state.flushing[record.id] ?? .min)
        }
        guard latest > record.lastSeenAt else { return record }
        var used = record
        used.lastSeenAt = latest
        return used
    }

    /// Writes the pending uses. If that fails, they are kept for the next time, as far as there is room: a store that
    /// is away must not have them grow without end.
    func flush(to store: any SessionStore) async throws {
        let batch = state.withLock { state -> [String: Milliseconds] in
            guard state.flushing.isEmpty else { return [:] }
            state.flushing = state.pending
            state.pending = [:]
            return state.flushing
        }
        guard !batch.isEmpty else { return }
        do {
            try await store.touch(sessions: batch.map { (id: $0.key, lastSeenAt: $0.value) })
            self.state.withLock { $0.flushing = [:] }
        } catch {
            state.withLock { state in
                for (id, used) in state.flushing
                where state.pending[id] != nil || state.pending.count < self.capacity {
                    state.pending[id] = max(used, state.pending[id] ?? used)
                }
                state.flushing = [:]
            }
            throw error
        }
    }
}
