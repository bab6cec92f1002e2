import NIOCore
import NIOPosix

#if canImport(Glibc)
import Glibc
#endif

/// Runs tasks on threads that give way to the event loops.
///
/// A sign-in verifies signatures, makes tokens and reads a store; a proxied request needs a core for microseconds.
/// Where both want the same core, the kernel takes the loop first, so that a burst of logins does not delay the traffic
/// of those who are signed in. On a core that is free, nothing is slower.
package final class LowPriorityExecutor: TaskExecutor {
    /// The process's own: its threads are made once, however many gateways there are.
    package static let shared = LowPriorityExecutor(threads: System.coreCount)

    /// The lower priority, as `nice` counts: about a tenth of what the kernel gives to a loop that wants the same core.
    private static let nice: CInt = 10

    private let pool: NIOThreadPool
    private let isLowered = ThreadSpecificVariable<Lowered>()

    private final class Lowered: Sendable {}

    private init(threads: Int) {
        pool = NIOThreadPool(numberOfThreads: max(2, threads))
        pool.start()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pool.submit { [self] _ in
            lowerOnce()
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    /// On Linux a process id of 0 means the calling thread. A kernel that refuses leaves the thread as it was.
    private func lowerOnce() {
        guard isLowered.currentValue == nil else { return }
        isLowered.currentValue = Lowered()
        #if canImport(Glibc)
        _ = setpriority(CInt(bitPattern: PRIO_PROCESS.rawValue), 0, Self.nice)
        #endif
    }
}
