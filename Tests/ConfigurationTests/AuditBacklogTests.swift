import Encodings
import Testing

@testable import gatehouse

@Suite("The lines of the audit log that are not on the disk")
struct AuditBacklogTests {
    private func line(_ text: String = "x") -> JSONObject { ["event": "test", "text": .string(text)] }

    /// A backlog with as many of these lines as it takes.
    private func full(of line: JSONObject) -> (backlog: AuditBacklog, lines: Int) {
        var backlog = AuditBacklog()
        var lines = 0
        while lines <= AuditBacklog.mostLines, backlog.append(line, at: 0) { lines += 1 }
        return (backlog, lines)
    }

    @Test("So many lines are taken")
    func boundsLines() {
        // Their size is a line's least, so that the number of lines is what is full.
        #expect(AuditBacklog.size(of: [:]) * AuditBacklog.mostLines < AuditBacklog.mostBytes)
        #expect(full(of: [:]).lines == AuditBacklog.mostLines)
    }

    @Test("So many bytes are taken, however few lines they are")
    func boundsBytes() {
        let long = line(String(repeating: "x", count: 1 << 20))
        let filled = full(of: long)
        // A line is a little longer than its text, so that one less than the number of MiB fits.
        #expect(filled.lines == (AuditBacklog.mostBytes >> 20) - 1)
        var backlog = filled.backlog
        #expect(backlog.append(line(), at: 0) == true)
    }

    @Test("A batch that is being written counts, and counts once when it has failed")
    func countsWhatIsWritten() {
        let long = line(String(repeating: "x", count: 100_000))
        let filled = full(of: long)
        var backlog = filled.backlog
        #expect(backlog.take().count == filled.lines)
        #expect(backlog.append(long, at: 0) == false)
        backlog.failed()
        #expect(backlog.append(long, at: 0) == false)
        #expect(backlog.take().count == filled.lines)
        backlog.written()
        #expect(backlog.append(long, at: 0) == true)
    }

    @Test("Lines that were dropped are counted in front of the next one")
    func saysWhatWasLost() {
        let long = line(String(repeating: "x", count: 1 << 20))
        let filled = full(of: long)
        var backlog = filled.backlog
        // The one that did not fit is counted already.
        for _ in 0..<2 { #expect(backlog.append(long, at: 0) == false) }
        #expect(backlog.take().count == filled.lines)
        backlog.written()
        #expect(backlog.append(line("next"), at: 5) == true)
        #expect(backlog.append(line("last"), at: 6) == true)
        let entries = backlog.take()
        let gap: JSONObject = ["event": "audit.gap", "lost": 3]
        #expect(entries.map { $0.time } == [5, 5, 6])
        #expect(entries.map { $0.members } == [gap, line("next"), line("last")])
    }

    @Test("A batch that could not be written stands before what has come since")
    func keepsTheOrder() {
        var backlog = AuditBacklog()
        for text in ["1", "2"] { #expect(backlog.append(line(text), at: 0) == true) }
        #expect(backlog.take().count == 2)
        #expect(backlog.append(line("3"), at: 0) == true)
        backlog.failed()
        #expect(backlog.append(line("4"), at: 0) == true)
        #expect(backlog.take().map { $0.members } == ["1", "2", "3", "4"].map(line))
        backlog.written()
        #expect(backlog.take().isEmpty)
    }
}
