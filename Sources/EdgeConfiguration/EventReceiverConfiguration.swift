/// One entry of `events`: a receiver of events (webhooks).
public struct EventReceiverConfiguration: Sendable, Equatable {
    /// What a receiver can be told of, by the names of the file.
    public enum Event: String, Sendable, CaseIterable {
        /// A session got an owner by a sign-in.
        case sessionUpgraded = "session.upgraded"
        /// A session ended or expired.
        case sessionEnded = "session.ended"
        /// A sign-in was refused.
        case loginFailed = "login.failed"
        /// A refresh token was used twice, which ended its family.
        case tokenReuse = "token.reuse"
        /// An account was disabled.
        case accountDisabled = "account.disabled"
    }

    /// `url`: where events are posted to, `https://…` or `http://…`; also the `aud` of the tokens.
    public var url: String
    /// `events`: what it is told of.
    public var events: [Event]
    /// `allow_private`: whether the URL may lead to a private, link-local or loopback address.
    public var allowPrivate = false

    /// A receiver on the internet.
    public init(url: String, events: [Event]) {
        self.url = url
        self.events = events
    }
}
