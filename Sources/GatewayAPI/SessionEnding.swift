import Answers
import Encodings
import Runtime
import SecurityGuard
import StateSurface

/// Ends sessions and families together, as they hang on each other.
///
/// A family is at home in the session that its login made, upgraded or resumed; sessions that its tokens opened
/// elsewhere are its guests. A guest ends alone. The home, logout and reuse end the family, its access tokens, the
/// home and all guests.
package struct SessionEnding: Sendable {
    private let services: APIServices

    package init(_ services: APIServices) {
        self.services = services
    }

    /// Ends one session for somebody whose proof has just opened it, and its family if it is at home there.
    ///
    /// The family goes first, with everything of it in one transaction: a crash in between leaves nothing half alive.
    package func end(_ session: SessionSnapshot, proof: SessionProof) async throws {
        services.sessionEnding(session.id)
        if let familyID = session.familyID, try await isHome(session.id, of: familyID) {
            try await endFamily(familyID)
        }
        _ = try await services.runtime.end(id: session.id, proof: proof)
    }

    /// Logout by a session's secret: the session, and its family wherever that is at home.
    func logOut(_ session: SessionSnapshot, proof: SessionProof) async throws {
        services.sessionEnding(session.id)
        if let familyID = session.familyID { try await endFamily(familyID) }
        _ = try await services.runtime.end(id: session.id, proof: proof)
    }

    /// Logout by an access token: its family with all that hangs on it, or the token alone where it names none.
    func logOut(_ principal: Principal) async throws {
        guard let familyID = principal.familyID else {
            return try await services.securityGuard.revoke(token: principal)
        }
        try await logOut(ofFamily: familyID)
    }

    /// Logout by something of a family: it ends with its home and guests. The sockets of its home are told first.
    func logOut(ofFamily familyID: String) async throws {
        if let home = try await services.securityGuard.familyBinding(familyID) { services.sessionEnding(home) }
        try await endFamily(familyID)
    }

    /// Ends a family, its access tokens, its home and its guests. Harmless when it has ended before.
    package func endFamily(_ familyID: String) async throws {
        let ended = try await services.securityGuard.endFamily(familyID)
        services.runtime.noteEnded(ended, reason: "family_ended")
    }

    /// Whether a family lives at home in this session.
    func isHome(_ sessionID: String, of familyID: String) async throws -> Bool {
        guard let binding = try await services.securityGuard.familyBinding(familyID) else { return false }
        return binding.hasSameBytes(as: sessionID)
    }

    /// Ends what a user has beyond `sessions.per_user` since this session is theirs: guests first, then homes with their
    /// families, of each the longest unused.
    package func makeRoom(besides session: SessionSnapshot) async throws {
        for surplus in try await services.runtime.surplus(besides: session) {
            if let familyID = surplus.homeOf {
                try await endFamily(familyID)
            } else if try await services.runtime.end(id: surplus.id) != nil {
                services.runtime.note(.ended, sessionID: surplus.id, reason: "too_many_sessions")
            }
        }
    }

    /// Takes back a session that was opened with a token that was revoked meanwhile: whoever ended the token's family
    /// may have looked for its sessions just before this one was written.
    func confirm(_ issued: IssuedSession, for principal: Principal) async throws {
        guard services.securityGuard.isRevoked(principal) else { return }
        do {
            _ = try await services.runtime.end(id: issued.session.id, proof: .secret(hash: issued.secret.hash))
        } catch is SessionFault {
            // It has another secret by now: its owner has claimed it again, with a token that is judged for itself.
        }
        throw Problem(.invalidToken, reason: "revoked_meanwhile")
    }
}
