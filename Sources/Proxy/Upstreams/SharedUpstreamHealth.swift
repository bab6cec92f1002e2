import NIOCore
import Synchronization

/// What all event loops know of one upstream of one route. A reload keeps it.
///
/// Requests read and count by atomics; the lock is taken only when something has changed: a failure, the first success
/// after one, the result of a check.
package final class SharedUpstreamHealth: Sendable {
    private struct State {
        var health = UpstreamHealth()
        var terms = UpstreamTerms()
    }

    /// The upstream, as metrics name it.
    package let place: String
    private let state = Mutex(State())
    private let isReached = Atomic<Bool>(true)
    private let requests = Atomic<Int>(0)
    // A copy of the view for readers without the lock.
    private let isUnhealthy = Atomic<Bool>(false)
    private let ejectedUntil = Atomic<Int64>(0)
    private let recoveredAt = Atomic<Int64>(0)
    private let isPristine = Atomic<Bool>(true)

    /// An upstream of which nothing is known yet. It counts as up.
    package init(place: String) { self.place = place }

    /// Goes on with other terms.
    package func apply(_ terms: UpstreamTerms) {
        state.withLock { state in
            state.terms = terms
            state.health.apply(terms)
            publish(state.health)
        }
    }

    /// Milliseconds of the clock that the times here are of.
    package static func now() -> Int64 { Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000) }

    // MARK: Reading

    /// What a choice needs to know.
    var view: UpstreamHealth.View {
        var view = UpstreamHealth.View()
        view.isUnhealthy = isUnhealthy.load(ordering: .relaxed)
        view.ejectedUntil = ejectedUntil.load(ordering: .relaxed)
        view.recoveredAt = recoveredAt.load(ordering: .relaxed)
        return view
    }

    /// Whether the last connection was made and the checks, if there are any, pass.
    package var isUp: Bool { isReached.load(ordering: .relaxed) && !isUnhealthy.load(ordering: .relaxed) }

    /// How many requests have failed since the last success, and until when the upstream is left alone; nil if it is
    /// not.
    package func failures(at now: Int64) -> (consecutive: Int, ejectedUntil: Int64?) {
        state.withLock { state in
            let until = state.health.view.ejectedUntil
            return (state.health.consecutiveFailures, until > now ? until : nil)
        }
    }

    // MARK: Counting

    /// Whether `most` requests are in progress.
    func isFull(_ most: Int) -> Bool { requests.load(ordering: .relaxed) >= most }

    /// Counts a request in, unless there are `most`.
    func enter(_ most: Int) -> Bool {
        let count = requests.add(1, ordering: .relaxed).newValue
        guard count > most else { return true }
        requests.subtract(1, ordering: .relaxed)
        return false
    }

    /// Counts a request out.
    func leave() { requests.subtract(1, ordering: .relaxed) }

    // MARK: Events

    /// A connection was made, or could not be made.
    func connected(_ isReached: Bool) { self.isReached.store(isReached, ordering: .relaxed) }

    /// A request was answered soundly, with anything but 5xx.
    func succeeded() {
        guard !isPristine.load(ordering: .relaxed) else { return }
        state.withLock { state in
            state.health.succeeded(state.terms.outlier, at: Self.now())
            publish(state.health)
        }
    }

    /// A request failed. Returns whether the upstream is left alone from now on.
    func failed() -> Bool {
        state.withLock { state in
            defer { publish(state.health) }
            return state.health.failed(state.terms.outlier, at: Self.now())
        }
    }

    /// A check has passed or failed. Returns whether the upstream has become healthy or unhealthy by it.
    func checked(_ passed: Bool) -> Bool {
        state.withLock { state in
            guard let terms = state.terms.health else { return false }
            defer { publish(state.health) }
            return state.health.checked(passed, terms, at: Self.now())
        }
    }

    /// To be called with the lock.
    private func publish(_ health: UpstreamHealth) {
        isUnhealthy.store(health.view.isUnhealthy, ordering: .relaxed)
        ejectedUntil.store(health.view.ejectedUntil, ordering: .relaxed)
        recoveredAt.store(health.view.recoveredAt, ordering: .relaxed)
        isPristine.store(health.isPristine, ordering: .relaxed)
    }
}
