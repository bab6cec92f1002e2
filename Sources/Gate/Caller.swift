import Answers
import EdgeConfiguration
import Runtime
import SecurityGuard

/// The caller of a good token who may pass, but for their session.
///
/// What memory knows and what the store says are judged by the same steps, in the order that these types allow: the
/// account is needed to make a caller, making one judges the rights, and only a caller gets an admission.
struct Caller: Sendable {
    let principal: Principal
    let profile: CallerProfile?

    /// Judges the rights of the token's owner.
    ///
    /// - Parameters:
    ///   - profile: the caller's account; nil for a client, and where no rule depends on it.
    ///   - now: in ms since the epoch.
    /// - Throws: what ``AccessTerms/requireRights(of:_:now:)`` throws.
    init(_ principal: Principal, _ profile: CallerProfile?, _ terms: AccessTerms, now: Int64) throws(Problem) {
        try terms.requireRights(of: principal, profile, now: now)
        self.principal = principal
        self.profile = profile
    }

    /// The admission; nil where the terms ask for a session as well.
    func admission(_ terms: AccessTerms) -> Admission? {
        terms.requirement == .tokenAndSession ? nil : Admission(.token(principal), profile, terms)
    }

    /// The admission with a session that is the caller's.
    func admission(_ terms: AccessTerms, with permit: Permit) -> Admission {
        Admission(.tokenAndSession(principal, permit), profile, terms)
    }
}

/// How a request names its session.
enum NamedSession {
    /// By its id.
    case id(String)
    /// By the hash of the secret in the cookie.
    case secret(hash: [UInt8])
}

/// Credentials that may name a session. Generic code over the two ways in which a request's are read, which the compiler
/// specialises.
protocol NamesSession {
    /// - Throws: `credentials_missing` where they name none.
    func namedSession() throws(Problem) -> NamedSession
}

extension PresentedCredentials: NamesSession {
    /// The session whose id is named, else the one of the cookie.
    func namedSession() throws(Problem) -> NamedSession {
        if let sessionID, !sessionID.isEmpty { return .id(String(decoding: sessionID, as: UTF8.self)) }
        guard let sessionCookie, let hash = SessionSecret.hash(ofPresented: sessionCookie) else {
            throw Problem(.credentialsMissing, reason: "no_session")
        }
        return .secret(hash: hash)
    }
}
