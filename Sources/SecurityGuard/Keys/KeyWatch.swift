import Synchronization

/// Notices that the key directory, or the time, asks for another key ring, and makes it.
final class KeyWatch: Sendable {
    private struct Seen {
        /// What the directory looked like when it was read last.
        var stamp: String
        /// After a failure, time alone is no reason to read it again before this.
        var pauseUntil: Int64 = .min
    }

    private static let pause: Int64 = 30_000

    private let directory: KeyDirectory
    private let keys: KeyRingHolder
    private let clock: @Sendable () -> Int64
    /// Held while reading: one reader at a time.
    private let seen: Mutex<Seen>

    init(_ directory: KeyDirectory, _ keys: KeyRingHolder, stamp: String, clock: @escaping @Sendable () -> Int64) {
        self.directory = directory
        self.keys = keys
        self.clock = clock
        seen = Mutex(Seen(stamp: stamp))
    }

    func isDue() -> Bool {
        let now = clock()
        return seen.withLock { seen in
            if let changesAt = keys.ring.changesAt, now >= changesAt, now >= seen.pauseUntil { return true }
            return seen.stamp != directory.stamp()
        }
    }

    /// Reads the directory; swaps the ring when the keys or their roles differ.
    /// - Returns: whether they did, and what is wrong with a file that it was done without.
    func reload() throws(GuardError) -> (isNew: Bool, fault: GuardError?) {
        let result = seen.withLock { seen -> Result<(isNew: Bool, fault: GuardError?), GuardError> in
            // Taken first: a file that changes while it is read is read again.
            seen.stamp = directory.stamp()
            do throws(GuardError) {
                return .success(try replaceRing())
            } catch {
                seen.pauseUntil = clock() + Self.pause
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func replaceRing() throws(GuardError) -> (isNew: Bool, fault: GuardError?) {
        guard let contents = try directory.load(keeping: keys.ring.loaded) else {
            throw GuardError(.keyState, "\(directory.path) holds no key any more; the last keys stay in use")
        }
        let old = keys.ring
        let new = try KeyRing(contents, generation: old.generation + 1, after: old)
        if new.isEquivalent(to: old), new.changesAt == old.changesAt { return (false, contents.faults.first) }
        keys.install(new)
        return (true, contents.faults.first)
    }
}
