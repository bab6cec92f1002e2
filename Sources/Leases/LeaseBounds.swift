/// What bounds every lease besides its token and its session.
package struct LeaseBounds: Sendable, Equatable {
    /// How long a token counts past its `exp`, in ms.
    package let clockSkew: Int64
    /// The longest that anything stays open, in ms.
    package let maxLifetime: Int64

    package init(clockSkew: Int64, maxLifetime: Int64) {
        self.clockSkew = clockSkew
        self.maxLifetime = maxLifetime
    }
}
