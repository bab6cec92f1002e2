import EdgeConfiguration
import Foundation
import Logging
import Synchronization
import Testing

@testable import gatehouse

/// Lines for readers that do not read, and for files that take nothing.
@Suite struct QueuedStreamsTests {
    @Test(
        "Logging waits for no reader of standard error: lines are dropped, counted, and told of in their place",
        arguments: GatewayConfiguration.Log.Format.allCases)
    func stuckReader(format: GatewayConfiguration.Log.Format) throws {
        let pipe = try FullPipe()
        let dropped = Mutex(0)
        let streams = QueuedStreams(format: format, errors: pipe.writing, limit: 8_192) { count in
            dropped.withLock { $0 += count }
        }
        let logger = Logger(label: "test") { label in
            LineLogHandler(label: label, format: format, clock: { 0 }) { streams.errors.take(line: $0) }
        }
        // On a thread of its own, so that one that waits is a failure and not the end of the tests.
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            for number in 0..<1_000 { logger.info("line \(number).") }
            done.signal()
        }
        try #require(done.wait(timeout: .now() + 30) == .success)
        let lost = dropped.withLock { $0 }
        #expect(lost > 0 && lost < 1_000)
        // The end of the process does not wait for ever, either.
        #expect(!streams.errors.writer.finish(within: 10))

        let lines = try pipe.lines(until: "log lines were dropped")
        let kept = 1_000 - lost
        #expect(lines.count == kept + 1)
        #expect(lines.prefix(kept).enumerated().allSatisfy { number, line in line.contains("line \(number).") })
        let count = format == .text ? "lines=\(lost)" : #""lines":"\#(lost)""#
        #expect(lines.last?.contains(count) == true, "\(lines.last ?? "")")

        logger.info("after all")
        #expect(try pipe.lines(until: "after all").count == 1)
        #expect(streams.errors.writer.finish(within: 10_000))
        #expect(dropped.withLock { $0 } == lost)
    }

    @Test("A log that has filled its queue takes no room from another one on the same descriptor")
    func separateRoom() throws {
        let pipe = try FullPipe()
        let dropped = Mutex(0)
        let droppedOfQuiet = Mutex(0)
        let writer = LineWriter(descriptor: pipe.writing, name: "test")
        let noisy = LineQueue(
            writer, limit: 1_000,
            reports: LineQueue.Reports(dropped: { count in dropped.withLock { $0 += count } }))
        let quiet = LineQueue(
            writer, limit: 1_000,
            reports: LineQueue.Reports(dropped: { count in droppedOfQuiet.withLock { $0 += count } }))
        let line = String(repeating: "n", count: 99) + "\n"
        for _ in 0..<25 { noisy.take(line: line) }
        quiet.take(line: "quiet\n")
        let lines = try pipe.lines(until: "quiet")
        #expect(lines.count == 11 && lines.last == "quiet")
        #expect(dropped.withLock { $0 } == 15 && droppedOfQuiet.withLock { $0 } == 0)
    }

    @Test("Lines that can't be written are counted; the failure is told once, and how many are missing when it is over")
    func fullDisk() throws {
        let path = NSTemporaryDirectory() + "gatehouse-lines-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let told = Mutex<[String]>([])
        let writer = LineWriter(descriptor: open("/dev/full", O_WRONLY | O_CLOEXEC), isOwned: true, name: "test")
        let queue = LineQueue(
            writer,
            reports: LineQueue.Reports(
                dropped: { count in told.withLock { $0.append("dropped \(count)") } },
                failed: { _ in told.withLock { $0.append("failed") } }, resumed: { "missing: \($0)" }))
        for line in ["a\n", "b\n"] {
            queue.take(line: line)
            #expect(writer.finish(within: 10_000))
        }
        writer.replace { open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) }
        queue.take(line: "c\n")
        #expect(writer.finish(within: 10_000))
        #expect(told.withLock { $0 } == ["dropped 1", "failed", "dropped 1"])
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "c\nmissing: 2\n")
    }
}

/// A pipe that is full, and that nobody reads before the test does.
private final class FullPipe {
    struct Failure: Error { let reason: String }

    let writing: Int32
    private let reading: Int32

    init() throws {
        // A writer that a failed test leaves behind is no reason to end the others.
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failure(reason: "pipe: \(errno)") }
        reading = ends[0]
        writing = ends[1]
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let flags = fcntl(writing, F_GETFL)
        _ = fcntl(writing, F_SETFL, flags | O_NONBLOCK)
        let filling = [UInt8](repeating: UInt8(ascii: "\n"), count: 4_096)
        while write(writing, filling, filling.count) > 0 {}
        _ = fcntl(writing, F_SETFL, flags)
    }

    deinit {
        close(reading)
        close(writing)
    }

    /// The lines that come, without those that filled it, until the end of the one that has the text.
    func lines(until text: String) throws -> [String] {
        var bytes: [UInt8] = []
        while true {
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            if bytes.last == UInt8(ascii: "\n"), lines.contains(where: { $0.contains(text) }) {
                return lines.map { String($0) }
            }
            var entry = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 30_000) > 0 else { throw Failure(reason: "no line with '\(text)' in \(lines)") }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = read(reading, &chunk, chunk.count)
            guard count > 0 else { throw Failure(reason: "read: \(errno)") }
            bytes += chunk.prefix(count)
        }
    }
}
