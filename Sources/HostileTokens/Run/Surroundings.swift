extension Runner {
    /// What surrounds the attacks.
    public struct Surroundings: Sendable {
        /// Waits until the next request may be sent.
        public var pause: @Sendable () async throws -> Void
        /// Seconds since 1970.
        public var now: @Sendable () -> Int64
        /// How often the canary's address was visited.
        public var canaryVisits: @Sendable () -> Int
        /// Another good token in the place of one that has expired; nil where there is no way to get one.
        public var renew: (@Sendable () async throws -> [UInt8])?

        /// Surroundings without a rate, and without anybody at the canary's address.
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
        case unprotected
        case goodTokenRefused = "good_token_refused"
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
