import Synchronization

/// Makes a new key ring when the key directory changes or a key's time comes.
final class KeyWatch: Sendable {
    private struct Seen {
        /// The stamp of the directory when it was last read.
        var stamp: String
        /// After a failure, the directory is not read again before this time unless it changes.
        var pauseUntil: Int64 = .min
    }

    private static let pause: Int64 = 30_000

    private let directory: KeyDirectory
    private let keys: KeyRingHolder
    private let clock: @Sendable () -> Int64
    /// Locked while reading, so that there is one reader at a time.
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

    /// Reads the directory, and replaces the ring if the keys or their states have changed.
    /// - Returns: whether it was replaced, and the fault of a file that was ignored.
    func reload() throws(GuardError) -> (isNew: Bool, fault: GuardError?) {
        let result = seen.withLock { seen -> Result<(isNew: Bool, fault: GuardError?), GuardError> in
            // Taken before reading, so that a file that changes meanwhile is read again.
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
