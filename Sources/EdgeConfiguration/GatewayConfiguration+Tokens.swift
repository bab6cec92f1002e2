extension GatewayConfiguration {
    /// `tokens.*`: what access and refresh tokens say and how long they hold.
    public struct Tokens: Sendable, Equatable {
        /// `tokens.issuer`; nil stands for the address that was bound, known only then.
        public var issuer: String?
        /// `tokens.audience`.
        public var audience = ["gatehouse"]
        /// `tokens.algorithm`: the name JOSE registers for it.
        public var algorithm = "ES256"
        /// `tokens.access_token_lifetime`.
        public var accessTokenLifetime: Int64 = 15 * 60_000
        /// `tokens.refresh_token_lifetime`: of the whole family.
        public var refreshTokenLifetime: Int64 = 30 * 86_400_000
        /// `tokens.clock_skew`: how far other clocks may be off.
        public var clockSkew: Int64 = 30_000

        /// The defaults.
        public init() {}
    }

    /// `sessions.*`: how long sessions live, unused and at all.
    public struct Sessions: Sendable, Equatable {
        /// `sessions.anonymous_idle`.
        public var anonymousIdle: Int64 = 30 * 60_000
        /// `sessions.anonymous_lifetime`.
        public var anonymousLifetime: Int64 = 24 * 3_600_000
        /// `sessions.idle`.
        public var idle: Int64 = 12 * 3_600_000
        /// `sessions.lifetime`.
        public var lifetime: Int64 = 30 * 86_400_000
        /// `sessions.per_user`: live sessions that one user may have.
        public var perUser = 1_000

        /// The defaults.
        public init() {}
    }

    /// `websocket.*`: the socket edge.
    public struct WebSocket: Sendable, Equatable {
        /// How a refused upgrade is told.
        public enum Refusals: String, Sendable, CaseIterable {
            /// As a normal HTTP answer.
            case http
            /// To allowed origins as `101` and a close frame that a script can read.
            case close
        }

        /// `websocket.max_message`: bytes of one message to the embedded Runtime.
        public var maxMessage = 64 * 1024
        /// `websocket.ping`: how often the embedded Runtime pings.
        public var ping: Int64 = 25_000
        /// `websocket.refusals`.
        public var refusals = Refusals.http
        /// `websocket.max_lifetime`: no socket outlives it, however often its token is refreshed.
        public var maxLifetime: Int64 = 24 * 3_600_000

        /// The defaults.
        public init() {}
    }

    /// `limits.*`: what one caller may take.
    public struct Limits: Sendable, Equatable {
        /// `limits.enabled`: false lifts every limit below.
        public var enabled = true
        /// `limits.sockets_per_session`.
        public var socketsPerSession = 16
        /// `limits.sockets_per_user`.
        public var socketsPerUser = 64
        /// `limits.login_per_minute`: failed logins per address and account; ten times that per address.
        public var loginPerMinute = 10
        /// `limits.anonymous_per_minute`: anonymous sessions per address.
        public var anonymousPerMinute = 600

        /// The defaults.
        public init() {}
    }
}
