extension GatewayConfiguration {
    /// `tokens.*`: what access and refresh tokens say and how long they hold.
    package struct Tokens: Sendable, Equatable {
        /// `tokens.issuer`; nil stands for the address that was bound, known only then.
        package var issuer: String?
        /// `tokens.audience`.
        package var audience = ["gatehouse"]
        /// `tokens.algorithm`: the name JOSE registers for it.
        package var algorithm = "ES256"
        /// `tokens.access_token_lifetime`.
        package var accessTokenLifetime: Int64 = 15 * 60_000
        /// `tokens.refresh_token_lifetime`: of the whole family.
        package var refreshTokenLifetime: Int64 = 30 * 86_400_000
        /// `tokens.clock_skew`: how far other clocks may be off.
        package var clockSkew: Int64 = 30_000

        package init() {}
    }

    /// `sessions.*`: how long sessions live, unused and at all.
    package struct Sessions: Sendable, Equatable {
        /// `sessions.anonymous_idle`.
        package var anonymousIdle: Int64 = 30 * 60_000
        /// `sessions.anonymous_lifetime`.
        package var anonymousLifetime: Int64 = 24 * 3_600_000
        /// `sessions.idle`.
        package var idle: Int64 = 12 * 3_600_000
        /// `sessions.lifetime`.
        package var lifetime: Int64 = 30 * 86_400_000
        /// `sessions.per_user`: live sessions that one user may have.
        package var perUser = 1_000

        package init() {}
    }

    /// `websocket.*`: the socket edge.
    package struct WebSocket: Sendable, Equatable {
        /// How a refused upgrade is told.
        package enum Refusals: String, Sendable, CaseIterable {
            /// As a normal HTTP answer.
            case http
            /// To allowed origins as `101` and a close frame that a script can read.
            case close
        }

        /// `websocket.max_message`: bytes of one message to the embedded Runtime.
        package var maxMessage = 64 * 1024
        /// `websocket.ping`: how often the embedded Runtime pings.
        package var ping: Int64 = 25_000
        /// `websocket.refusals`.
        package var refusals = Refusals.http
        /// `websocket.max_lifetime`: no socket outlives it, however often its token is refreshed.
        package var maxLifetime: Int64 = 24 * 3_600_000

        package init() {}
    }

    /// `limits.*`: what one caller may take.
    package struct Limits: Sendable, Equatable {
        /// `limits.enabled`: false lifts every limit below.
        package var enabled = true
        /// `limits.sockets_per_session`.
        package var socketsPerSession = 16
        /// `limits.sockets_per_user`.
        package var socketsPerUser = 64
        /// `limits.login_per_minute`: failed logins per address and account; ten times that per address.
        package var loginPerMinute = 10
        /// `limits.anonymous_per_minute`: anonymous sessions per address.
        package var anonymousPerMinute = 600

        package init() {}
    }
}
