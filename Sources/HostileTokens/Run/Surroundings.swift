extension Runner {
    /// What a run takes from outside: clock, rate limit, canary and new tokens.
    public struct Surroundings: Sendable {
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

/// Why a target cannot be judged.
public struct RunError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of fault.
    public enum Code: String, Sendable {
        /// The target accepts a request without a token.
        case unprotected
        /// The target refuses the valid token.
        case goodTokenRefused = "good_token_refused"
        /// The target does not answer.
        case unreachable
    }

    /// The kind of fault.
    public let code: Code
    /// One sentence.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Equality of the codes.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}
