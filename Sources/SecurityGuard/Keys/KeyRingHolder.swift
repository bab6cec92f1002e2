import Synchronization

/// Holds the current snapshot.
final class KeyRingHolder: Sendable {
    private let current: Mutex<KeyRing>
    private let generation: Atomic<UInt64>

    init(_ ring: KeyRing) {
        current = Mutex(ring)
        generation = Atomic(ring.generation)
    }

    var ring: KeyRing { current.withLock { $0 } }
    /// The generation of the current snapshot, with one atomic read.
    var currentGeneration: UInt64 { generation.load(ordering: .acquiring) }

    func install(_ ring: KeyRing) {
        current.withLock { $0 = ring }
        generation.store(ring.generation, ordering: .releasing)
    }
}
