import Encodings

/// The lines of an audit log that are not on the disk: those that wait, and the batch that is being written.
///
/// Both together have two bounds. What is over one is dropped and counted; the line after it is preceded by one that
/// says how many were.
struct AuditBacklog {
    /// Lines in their order.
    private struct Batch {
        var entries: [AuditFile.Entry] = []
        var bytes = 0

        mutating func append(_ entry: AuditFile.Entry, bytes: Int) {
            entries.append(entry)
            self.bytes += bytes
        }

        mutating func append(_ other: Batch) {
            entries += other.entries
            bytes += other.bytes
        }
    }

    /// The most lines.
    static let mostLines = 65_536
    /// The most bytes, as ``size(of:)`` counts them.
    static let mostBytes = 16 << 20

    private var waiting = Batch()
    private var writing = Batch()
    /// The number of lines that were dropped since the last one was taken.
    private var lost: Int64 = 0

    /// Takes one line. False if it was dropped.
    mutating func append(_ members: JSONObject, at time: Int64) -> Bool {
        let size = Self.size(of: members)
        guard waiting.entries.count + writing.entries.count < Self.mostLines,
            waiting.bytes + writing.bytes + size <= Self.mostBytes
        else {
            lost += 1
            return false
        }
        if lost > 0 {
            let gap: JSONObject = ["event": .string("audit.gap"), "lost": .integer(lost)]
            waiting.append((time, gap), bytes: Self.size(of: gap))
            lost = 0
        }
        waiting.append((time, members), bytes: size)
        return true
    }

    /// Begins to write all that waits. ``written()`` or ``failed()`` must follow.
    mutating func take() -> [AuditFile.Entry] {
        writing.append(waiting)
        waiting = Batch()
        return writing.entries
    }

    /// What was taken is on the disk.
    mutating func written() { writing = Batch() }

    /// What was taken could not be written: it waits again, before what has come since.
    mutating func failed() {
        writing.append(waiting)
        waiting = writing
        writing = Batch()
    }

    /// About how many bytes of memory a line takes until it is written.
    static func size(of members: JSONObject) -> Int {
        members.list.reduce(64) { $0 + 48 + $1.name.utf8.count + size(of: $1.value) }
    }

    private static func size(of value: JSONValue) -> Int {
        switch value {
        case .null, .bool: 0
        case .number(let number): number.text.utf8.count
        case .string(let text): text.utf8.count
        case .array(let values): values.reduce(32) { $0 + 32 + size(of: $1) }
        case .object(let object): size(of: object)
        }
    }
}
