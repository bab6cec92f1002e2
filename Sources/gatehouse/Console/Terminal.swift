import Glibc
import Synchronization

/// Standard input, output and error. Results go to standard output, everything else to standard error.
enum Terminal {
    /// The error number of a result that could not be written; 0 for none.
    private static let answerError = Atomic<Int32>(0)

    /// Whether standard output was closed when the process began.
    private static let isOutputClosed = Atomic<Bool>(false)

    /// Where lines other than results go while the gateway serves; nil to write them at once.
    private static let streams = Mutex<QueuedStreams?>(nil)

    /// How long in milliseconds the end of the process waits for a reader of each stream.
    private static let lastPatience = 1_000

    /// How long in milliseconds a result waits for room in an output that does not block.
    private static let patience: Int32 = 5_000

    /// Notes that standard output was closed when the process began, so that no result can be written to it.
    static func noteClosedOutput() { isOutputClosed.store(true, ordering: .relaxed) }

    /// Writes one line of the result to standard output.
    ///
    /// - Parameter isElsewhere: whether the command's result is in files or in the store, so that it is not lost when
    ///   standard output is closed.
    static func answer(_ line: String, isElsewhere: Bool = false) {
        answer(lines: line + "\n", isElsewhere: isElsewhere)
    }

    /// Writes lines of the result to standard output. After a failure no more is written.
    static func answer(lines: String, isElsewhere: Bool = false) {
        guard answerError.load(ordering: .relaxed) == 0 else { return }
        if isOutputClosed.load(ordering: .relaxed) {
            if !isElsewhere, !lines.isEmpty { answerError.store(EBADF, ordering: .relaxed) }
            return
        }
        // A reader that closes the pipe has read enough: that is no failure.
        if !write(lines, to: STDOUT_FILENO, patience: patience), errno != EPIPE {
            answerError.store(errno, ordering: .relaxed)
        }
    }

    /// From now on ``announce(_:)`` and ``notice(_:)`` don't wait for a reader.
    static func queueLines(in streams: QueuedStreams) { Self.streams.withLock { $0 = streams } }

    /// Waits a moment until queued lines are written. To be called before the process ends.
    static func drain() {
        guard let streams = Self.streams.withLock({ $0 }) else { return }
        streams.errors.writer.finish(within: lastPatience)
        streams.output.writer.finish(within: lastPatience)
    }

    /// Writes one line of news to standard output, such as the address that is listened on. A failure is ignored.
    static func announce(_ line: String) {
        guard let streams = Self.streams.withLock({ $0 }) else {
            write(line + "\n", to: STDOUT_FILENO)
            return
        }
        streams.output.take(line: line + "\n")
    }

    /// Throws if a part of the result could not be written, as on a full disk or to a closed output.
    static func requireAnswered() throws(CommandFailure) {
        let code = answerError.load(ordering: .relaxed)
        guard code != 0 else { return }
        throw CommandFailure("the result can't be written to standard output: \(FileBytes.reason(code))")
    }

    /// Writes one line to standard error.
    static func notice(_ line: String) {
        guard let streams = Self.streams.withLock({ $0 }) else {
            write(line + "\n", to: STDERR_FILENO)
            return
        }
        streams.errors.take(line: line + "\n")
    }

    /// Whether standard input is a terminal.
    static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 }

    /// Writes the whole text, also when interrupted by signals. False if that fails, as with a closed pipe or a full
    /// disk.
    ///
    /// - Parameter patience: how many milliseconds to wait for room, each time there is none in an output that does not
    ///   block.
    @discardableResult
    static func write(_ text: String, to descriptor: Int32, patience: Int32 = 0) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            if written < 0, errno == EAGAIN, patience > 0, hasRoom(descriptor, within: patience) { continue }
            guard written > 0 else { return false }
            bytes = bytes.dropFirst(written)
        }
        return true
    }

    /// Waits until something can be written, or it is known that nothing can be. Otherwise `errno` is EAGAIN.
    ///
    /// - Parameter patience: for how many milliseconds; -1 for ever.
    static func hasRoom(_ descriptor: Int32, within patience: Int32) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let found = poll(&watched, 1, patience)
        if found > 0 || (found < 0 && errno == EINTR) { return true }
        errno = EAGAIN
        return false
    }

    /// All of standard input, or nil if it has more than `limit` bytes, of which the rest is not read.
    static func input(limit: Int) throws(CommandFailure) -> [UInt8]? {
        try FileBytes.read(descriptor: STDIN_FILENO, limit: limit, name: "standard input")
    }
}
