extension GatewayConfiguration {
    /// `tokens.*`: what access and refresh tokens say and how long they are valid.
    public struct Tokens: Sendable, Equatable {
        /// What an access token may say of the account.
        public enum Claim: String, Sendable, CaseIterable {
            /// The e-mail, if it is verified.
            case email
            /// The name for people.
            case name
            /// The groups. A token that would be longer than 4 KiB has `groups_omitted: true` instead.
            case groups
        }

        /// `tokens.issuer`: the `iss` of tokens; nil for the address that is bound.
        public var issuer: String?
        /// `tokens.audience`: the `aud` of tokens.
        public var audience = ["gatehouse"]
        /// `tokens.claims`: what access tokens say of the account.
        public var claims: [Claim] = [.email, .groups]
        /// `tokens.algorithm`: the signature algorithm, by its JOSE name.
        public var algorithm = "ES256"
        /// `tokens.access_token_lifetime`: how long an access token is valid.
        public var accessTokenLifetime: Int64 = 15 * 60_000
        /// `tokens.refresh_token_lifetime`: how long a whole family of refresh tokens is valid.
        public var refreshTokenLifetime: Int64 = 30 * 86_400_000
        /// `tokens.clock_skew`: how far other clocks may be wrong.
        public var clockSkew: Int64 = 30_000

        /// The defaults.
        public init() {}
    }

    /// `sessions.*`: how long sessions may be unused, and how long they live at most.
    public struct Sessions: Sendable, Equatable {
        /// `sessions.anonymous_idle`: how long an anonymous session may be unused.
        public var anonymousIdle: Int64 = 30 * 60_000
        /// `sessions.anonymous_lifetime`: how long an anonymous session lives at most.
        public var anonymousLifetime: Int64 = 24 * 3_600_000
        /// `sessions.idle`: how long a user's session may be unused.
        public var idle: Int64 = 12 * 3_600_000
        /// `sessions.lifetime`: how long a user's session lives at most.
        public var lifetime: Int64 = 30 * 86_400_000
        /// `sessions.per_user`: how many live sessions one user may have.
        public var perUser = 1_000

        /// The defaults.
        public init() {}
    }

    /// `websocket.*`: WebSockets.
    public struct WebSocket: Sendable, Equatable {
        /// How an upgrade is refused.
        public enum Refusals: String, Sendable, CaseIterable {
            /// With a normal HTTP answer.
            case http
            /// For allowed origins, with `101` and a close frame that a script can read.
            case close
        }

        /// `websocket.max_message`: the most bytes of one message to the embedded Runtime.
        public var maxMessage = 64 * 1024
        /// `websocket.ping`: how often the embedded Runtime sends a ping.
        public var ping: Int64 = 25_000
        /// `websocket.refusals`: how an upgrade is refused.
        public var refusals = Refusals.http
        /// `websocket.max_lifetime`: how long a socket lives at most, even if its token is refreshed.
        public var maxLifetime: Int64 = 24 * 3_600_000

        /// The defaults.
        public init() {}
    }

    /// `limits.*`: how much one caller may use.
    public struct Limits: Sendable, Equatable {
        /// `limits.enabled`: false turns off every limit below.
        public var enabled = true
        /// `limits.sockets_per_session`: open sockets per session.
        public var socketsPerSession = 16
        /// `limits.sockets_per_user`: open sockets per user.
        public var socketsPerUser = 64
        /// `limits.login_per_minute`: failed logins per address and account; ten times that per address.
        public var loginPerMinute = 10
        /// `limits.anonymous_per_minute`: anonymous sessions per address.
        public var anonymousPerMinute = 600

        /// The defaults.
        public init() {}
    }
}
