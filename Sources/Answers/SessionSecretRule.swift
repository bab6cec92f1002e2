/// Which session secret of a request counts, for both planes: the one in `Session-Secret`, or the one in the session
/// cookie. Whether a secret opens a live session is looked up by the caller.
///
/// - A live cookie beside a different header contradicts it, and the request is refused.
/// - A cookie that opens no live session counts as none: a browser goes on sending it, whether the page wants that or
///   not.
package struct SessionSecretRule: Sendable, Equatable {
    /// How a secret was sent: in `Session-Secret`, or in the cookie of ``CookieMode/sessionName``.
    package enum Carrier: Sendable, Equatable { case header, cookie }

    /// Whether the header and the cookie differ, so that it has to be known whether the cookie opens a live session.
    package let asksCookie: Bool
    private let chosen: Carrier?

    /// - Parameters:
    ///   - header: the value of `Session-Secret`; nil where there is none. An empty one contradicts a live cookie like
    ///     any other, and alone it counts as none.
    ///   - cookie: the value of the cookie; nil where there is none. An empty one counts as none.
    package init(header: [UInt8]?, cookie: [UInt8]?) {
        let cookie = cookie.flatMap { $0.isEmpty ? nil : $0 }
        let header = header.flatMap { $0.isEmpty && cookie == nil ? nil : $0 }
        asksCookie = header != nil && cookie != nil && header != cookie
        chosen = header != nil ? .header : cookie != nil ? .cookie : nil
    }

    /// Where the secret is that counts; nil if none was sent.
    ///
    /// - Parameter cookieIsLive: matters only where ``asksCookie`` says so.
    /// - Throws: `invalid_request` for a live cookie beside another secret.
    package func carrier(cookieIsLive: Bool) throws(Problem) -> Carrier? {
        if asksCookie, cookieIsLive { throw Problem.twoSecrets }
        return chosen
    }

    /// Whether a secret has to be judged: any except a cookie that opens no live session.
    package static func counts(_ carrier: Carrier?, isLive: Bool) -> Bool {
        switch carrier {
        case nil: false
        case .header?: true
        case .cookie?: isLive
        }
    }

    /// The refusal of a request whose secret does not help it: `session_mismatch` for a secret that counts,
    /// `credentials_missing` for one that counts as none.
    package static func refusal(of carrier: Carrier?, isLive: Bool) -> Problem {
        Problem(counts(carrier, isLive: isLive) ? .sessionMismatch : .credentialsMissing)
    }
}
