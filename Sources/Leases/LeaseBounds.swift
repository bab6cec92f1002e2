/// The limits of a lease besides its token and its session.
package struct LeaseBounds: Sendable {
    /// How long after `exp` a token is accepted, in milliseconds.
    package var clockSkew: Int64
    /// How long a socket or stream may last regardless of refreshes, in milliseconds.
    package var maxLifetime: Int64

    /// - Parameters:
    ///   - clockSkew: `tokens.clock_skew`, in milliseconds.
    ///   - maxLifetime: `websocket.max_lifetime`, in milliseconds.
    package init(clockSkew: Int64, maxLifetime: Int64) {
        self.clockSkew = clockSkew
        self.maxLifetime = maxLifetime
    }

    /// The latest end of a lease that begins at `now`, in Unix milliseconds.
    package func end(from now: Int64) -> Int64 {
        let end = now.addingReportingOverflow(maxLifetime)
        return end.overflow ? .max : end.partialValue
    }
}
