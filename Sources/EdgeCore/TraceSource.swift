import HTTPWire

/// Makes the traces of one event loop.
package final class TraceSource {
    private var traceState = UInt64.random(in: .min ... .max)

    /// Creates a source that begins at a random state.
    package init() {}

    /// The trace of a request: that of its `traceparent`, if it has one that is valid, else a new one. Trace ids must
    /// differ, but need not be hard to guess.
    package func trace(of head: RequestHead, _ sampling: TraceSampling) -> RequestTrace {
        if head.present.contains(.traceparent), let field = head.only(.traceparent),
            head.connectionNominated.isEmpty || !head.isNominated(field, by: head.connectionNominated),
            let known = head.withBytes(field.value, { TraceContext.read($0) })
        {
            return RequestTrace(
                high: known.high, low: known.low, span: nextWord() | 1, parent: known.parent,
                isSampled: known.isSampled, isRecorded: known.isSampled && sampling.isOn)
        }
        let isSampled = sampling.records(nextWord())
        return RequestTrace(
            high: nextWord(), low: nextWord() | 1, span: nextWord() | 1, parent: nil, isSampled: isSampled,
            isRecorded: isSampled)
    }

    /// The next number of SplitMix64.
    private func nextWord() -> UInt64 {
        traceState &+= 0x9E37_79B9_7F4A_7C15
        var word = traceState
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
