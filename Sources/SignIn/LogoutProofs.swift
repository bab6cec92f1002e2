import Runtime
import SecurityGuard

/// What a caller shows to be logged out. Any one of them is enough, also of something that has ended before: a caller who
/// logs out wants to be out.
package struct LogoutProofs: Sendable {
    /// Whom an access token was made for, be it past its end.
    package var principal: Principal?
    /// A live session that was opened, and the proof that opened it.
    package var session: (snapshot: SessionSnapshot, proof: SessionProof)?
    package var refreshToken: String?

    package init(
        principal: Principal? = nil, session: (snapshot: SessionSnapshot, proof: SessionProof)? = nil,
        refreshToken: String? = nil
    ) {
        self.principal = principal
        self.session = session
        self.refreshToken = refreshToken
    }
}

/// Which of the proofs of a logout held.
package struct LoggedOut: Sendable {
    /// The access token or the session.
    package var byTokenOrSession = false
    package var byRefreshToken = false

    package var isProved: Bool { byTokenOrSession || byRefreshToken }
}
