/// What bounds a lease besides its token and its session.
package struct LeaseBounds: Sendable {
    /// How long after `exp` a token still counts, in ms.
    package var clockSkew: Int64
    /// How long a socket or stream may last however often its token is refreshed, in ms.
    package var maxLifetime: Int64

    package init(clockSkew: Int64, maxLifetime: Int64) {
        self.clockSkew = clockSkew
        self.maxLifetime = maxLifetime
    }

    /// The end that nothing can move of what was let in at `now`, in ms since the epoch.
    package func end(from now: Int64) -> Int64 {
        let end = now.addingReportingOverflow(maxLifetime)
        return end.overflow ? .max : end.partialValue
    }
}
