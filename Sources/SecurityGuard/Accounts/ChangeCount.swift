import Synchronization

/// Counts changes, for copies elsewhere that are good for as long as nothing has changed. Safe from any thread.
package final class ChangeCount: Sendable {
    private let count = Atomic<UInt64>(0)

    /// How many changes there have been; one atomic read. To be read before what is copied.
    package var value: UInt64 { count.load(ordering: .acquiring) }

    /// Counts a change, after it was made.
    func move() { count.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}
