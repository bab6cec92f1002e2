/// Checks an audit log from the first line to the last, over any number of files. It keeps one line in memory.
struct AuditVerification {
    /// The first line at which the chain is broken.
    struct Break: Error, Sendable, Equatable {
        let line: Int64
        let reason: String
    }

    /// A length in bytes that no written line reaches.
    private static let longestLine = 1 << 20

    private var chain = AuditChain()
    private var pending: [UInt8] = []
    /// The number of valid lines so far, in all files.
    private(set) var lines: Int64 = 0
    /// The number of valid lines of the current file.
    private var linesOfFile: Int64 = 0
    /// The hash of the last valid line. If it is also stored elsewhere, lines removed at the end of the log are
    /// noticed.
    var head: String { chain.head }

    /// Goes on with the next file, which must go on from the last line of the one before.
    mutating func beginFile() { linesOfFile = 0 }

    /// Continues with the next bytes of the file.
    mutating func update(_ bytes: some Sequence<UInt8>) throws(Break) {
        for byte in bytes {
            if byte != UInt8(ascii: "\n") {
                pending.append(byte)
                guard pending.count <= Self.longestLine else {
                    throw Break(line: linesOfFile + 1, reason: "the line is longer than any that is written")
                }
            } else {
                try accept(pending)
                lines += 1
                linesOfFile += 1
                pending.removeAll(keepingCapacity: true)
            }
        }
    }

    /// Takes the next line. Throws where it does not continue the chain.
    private mutating func accept(_ line: [UInt8]) throws(Break) {
        if lines == 0 {
            guard let begun = AuditChain.beginning(with: line) else {
                throw Break(line: 1, reason: "the line was changed, or it is not the first one of a log")
            }
            chain = begun
        } else if !chain.accept(line) {
            let reason =
                linesOfFile == 0
                ? "the file does not go on from the end of the one before"
                : "the line was changed, or lines before it were removed"
            throw Break(line: linesOfFile + 1, reason: reason)
        }
    }

    /// Ends the file. Throws if the last line is incomplete.
    func finish() throws(Break) {
        guard pending.isEmpty else { throw Break(line: linesOfFile + 1, reason: "the line is cut off") }
    }
}
