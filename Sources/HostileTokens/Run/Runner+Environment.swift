extension Runner {
    /// What a run takes from outside: clock, rate limit, canary and new tokens.
    public struct Environment: Sendable {
        /// Waits until the next request may be sent.
        public var pause: @Sendable () async throws -> Void
        /// Seconds since 1970.
        public var now: @Sendable () -> Int64
        /// The number of connections to the canary.
        public var canaryVisits: @Sendable () -> Int
        /// Gets a valid token to replace one that has expired; nil if that is not possible.
        public var renew: (@Sendable () async throws -> [UInt8])?

        /// By default there is no rate limit, no canary, and no new token.
        public init(
            now: @escaping @Sendable () -> Int64, pause: @escaping @Sendable () async throws -> Void = {},
            canaryVisits: @escaping @Sendable () -> Int = { 0 },
            renew: (@Sendable () async throws -> [UInt8])? = nil
        ) {
            self.now = now
            self.pause = pause
            self.canaryVisits = canaryVisits
            self.renew = renew
        }
    }
}
