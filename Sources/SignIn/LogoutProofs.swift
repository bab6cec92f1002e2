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

    /// The credentials given; none by default.
    package init(
        principal: Principal? = nil, session: (snapshot: SessionSnapshot, proof: SessionProof)? = nil,
        refreshToken: String? = nil
    ) {
        self.principal = principal
        self.session = session
        self.refreshToken = refreshToken
    }
}

/// Which credentials of a logout were valid.
package struct LoggedOut: Sendable {
    /// Whether the access token or the session was.
    package var byTokenOrSession = false
    /// Whether the refresh token was.
    package var byRefreshToken = false

    /// Whether any of them was.
    package var isProved: Bool { byTokenOrSession || byRefreshToken }
}
