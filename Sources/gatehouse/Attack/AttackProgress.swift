import Glibc
import HostileTokens
import Synchronization

/// One line on a terminal that shows the progress.
final class AttackProgress: Sendable {
    private let total: Int
    /// In a file or a pipe, a line that overwrites itself would be noise.
    private let isShown = isatty(STDERR_FILENO) == 1
    private let counts = Mutex((done: 0, failed: 0))

    /// - Parameter total: the number of cases.
    init(total: Int) {
        self.total = total
    }

    /// Counts a finished case and shows the counts.
    func note(_ result: CaseResult) {
        let (done, failed) = counts.withLock { counts in
            counts.done += 1
            if result.verdict == .failed { counts.failed += 1 }
            return counts
        }
        guard isShown else { return }
        Terminal.write("\r\u{1B}[K\(done)/\(total)  \(failed) failed  \(result.info.id)", to: STDERR_FILENO)
    }

    /// Removes the line, before the report is printed.
    func end() {
        if isShown { Terminal.write("\r\u{1B}[K", to: STDERR_FILENO) }
    }
}
