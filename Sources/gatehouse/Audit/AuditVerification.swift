/// Checks an audit log from its first line to its last, holding one line at a time.
struct AuditVerification {
    /// Where the chain breaks.
    struct Break: Error, Sendable, Equatable {
        let line: Int64
        let reason: String
    }

    /// Longer than any line that is ever written.
    private static let longestLine = 1 << 20

    private var chain = AuditChain()
    private var pending: [UInt8] = []

    /// How many lines are good so far.
    var lines: Int64 { chain.sequence }
    /// The hash of the last good line. Kept elsewhere, it shows whether lines were cut off the end.
    var head: String { chain.head }

    /// Takes the next bytes of the file.
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

    /// Says that there is no more.
    func finish() throws(Break) {
        guard pending.isEmpty else { throw Break(line: lines + 1, reason: "the line is cut off") }
    }
}
