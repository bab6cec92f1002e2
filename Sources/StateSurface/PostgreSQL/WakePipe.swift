import Glibc
import Synchronization

/// A pipe by which any thread wakes one that waits for input on several descriptors.
final class WakePipe: Sendable {
    /// The descriptor to wait on.
    let reading: CInt
    private let writing: CInt
    private let isSignalled = Atomic(false)

    /// - Throws: ``StateSurfaceError`` if the process has no descriptor left.
    init() throws {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0, let first = ends.first, let last = ends.last else {
            throw StateSurfaceError(.unavailable, "no file descriptor is left for the store's feed")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (reading, writing) = (first, last)
    }

    deinit {
        close(reading)
        close(writing)
    }

    /// Wakes the reader. Signals before it calls ``takeSignal()`` count as one.
    func signal() {
        guard !isSignalled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var byte: UInt8 = 1
        _ = write(writing, &byte, 1)
    }

    /// Whether it was signalled since the last call. To be called by the reader before it reads what has changed.
    func takeSignal() -> Bool {
        var byte: UInt8 = 0
        while read(reading, &byte, 1) == 1 {}
        return isSignalled.exchange(false, ordering: .acquiringAndReleasing)
    }
}
