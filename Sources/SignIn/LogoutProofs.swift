import Runtime
import SecurityGuard

/// The credentials with which a caller logs out. One is enough, also if its session has ended before.
package struct LogoutProofs: Sendable {
    /// The principal of an access token, which may have expired.
    package var principal: Principal?
    /// A live session and the proof for it.
    package var session: (snapshot: SessionSnapshot, proof: SessionProof)?
    /// A refresh token as it was presented.
    package var refreshToken: String?
    /// SHA-256 of a session secret that opens no live session. It counts if the others prove nothing and it is the last
    /// secret of a session that has ended.
    package var deadSecretHash: [UInt8]?
    /// The refresh token of a cookie. It counts if the others prove nothing and there is no ``refreshToken``.
    package var refreshCookie: String?

    /// The credentials given; none by default.
    package init(
        principal: Principal? = nil, session: (snapshot: SessionSnapshot, proof: SessionProof)? = nil,
        refreshToken: String? = nil, deadSecretHash: [UInt8]? = nil, refreshCookie: String? = nil
    ) {
        self.principal = principal
        self.session = session
        self.refreshToken = refreshToken
        self.deadSecretHash = deadSecretHash
        self.refreshCookie = refreshCookie
    }
}

/// Which credentials of a logout were valid.
package struct LoggedOut: Sendable {
    /// Whether the access token or the session was.
    package var byTokenOrSession = false
    /// Whether the refresh token was.
    package var byRefreshToken = false
    /// Whether the secret was the last one of a session that has ended.
    package var byDeadSecret = false
    /// Whether the refresh token of the cookie was.
    package var byRefreshCookie = false

    /// Whether any of them was.
    package var isProved: Bool { byTokenOrSession || byRefreshToken || byDeadSecret || byRefreshCookie }
}
