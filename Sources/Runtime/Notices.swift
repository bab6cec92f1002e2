import Synchronization

/// The observers of notices.
final class Notices: Sendable {
    private struct State: Sendable {
        var observers: [UInt64: @Sendable (SessionNotice) -> Void] = [:]
        var lastID: UInt64 = 0
    }

    private let state = Mutex(State())

    func add(_ observer: @escaping @Sendable (SessionNotice) -> Void) -> NoticeSubscription {
        let id = state.withLock { state in
            state.lastID &+= 1
            state.observers[state.lastID] = observer
            return state.lastID
        }
        return NoticeSubscription { [weak self] in
            self?.state.withLock { _ = $0.observers.removeValue(forKey: id) }
        }
    }

    func notify(_ notice: SessionNotice) {
        for observer in state.withLock({ Array($0.observers.values) }) { observer(notice) }
    }
}
