/// The cost parameters of scrypt (RFC 7914).
package struct ScryptParameters: Sendable, Equatable {
    /// The binary logarithm of N.
    package var logN: Int
    package var r: Int
    package var p: Int

    package init(logN: Int, r: Int, p: Int) {
        self.logN = logN
        self.r = r
        self.p = p
    }

    /// The parameters for new passwords, which take 32 MiB each.
    package static let current = ScryptParameters(logN: 15, r: 8, p: 1)

    /// Whether the parameters are within bounds, so that a stored hash cannot make the server spend too much time or
    /// memory.
    var isReasonable: Bool {
        (1...20).contains(logN) && (1...32).contains(r) && (1...16).contains(p) && memory <= 256 << 20
    }

    var n: UInt64 { 1 << UInt64(logN) }
    private var memory: Int { 128 * r * (1 << logN) }
    private var work: Int { (1 << logN) * r * p }

    func isWeaker(than other: ScryptParameters) -> Bool { work < other.work }
}
