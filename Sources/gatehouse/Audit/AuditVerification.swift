/// Checks an audit log from the first line to the last. It keeps one line in memory.
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

    /// The number of valid lines so far.
    var lines: Int64 { chain.sequence }
    /// The hash of the last valid line. If it is also stored elsewhere, lines removed at the end of the log are
    /// noticed.
    var head: String { chain.head }

    /// Continues with the next bytes of the file.
    mutating func update(_ bytes: some Sequence<UInt8>) throws(Break) {
        for byte in bytes {
            if byte != UInt8(ascii: "\n") {
                pending.append(byte)
                guard pending.count <= Self.longestLine else {
                    throw Break(line: lines + 1, reason: "the line is longer than any that is written")
                }
            } else {
                guard chain.accept(pending) else {
                    throw Break(line: lines + 1, reason: "the line was changed, or lines before it were removed")
                }
                pending.removeAll(keepingCapacity: true)
            }
        }
    }

    /// Ends the file. Throws if the last line is incomplete.
    func finish() throws(Break) {
        guard pending.isEmpty else { throw Break(line: lines + 1, reason: "the line is cut off") }
    }
}
