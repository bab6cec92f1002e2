/// Decides which traces are recorded. `tracing.ratio` counts for new traces only: a client's decision is kept.
package struct TraceSampling: Sendable, Equatable {
    /// New traces are recorded whose random word is below this; 0 for none.
    private let threshold: UInt64
    /// Whether spans are sent anywhere.
    package let isOn: Bool

    /// Nothing is recorded.
    package static let off = TraceSampling(isOn: false, ratio: 0)

    /// - Parameter ratio: the share of new traces that are recorded, 0 to 1.
    package init(isOn: Bool, ratio: Double) {
        self.isOn = isOn
        let bounded = min(max(ratio, 0), 1)
        threshold = bounded >= 1 ? .max : UInt64(bounded * 18_446_744_073_709_549_568)
    }

    /// Whether a new trace is recorded.
    package func records(_ word: UInt64) -> Bool { isOn && threshold > 0 && (threshold == .max || word < threshold) }
}
