import EdgeConfiguration
import Runtime
import SecurityGuard

/// Proof that a request passed the gate.
///
/// The proxy, the relay, the sockets that end here and the success of the decision endpoint all take one. The
/// initialisers are internal to this module, so code outside it can only pass on what the gate has given out.
/// `Tests/MustNotCompile` holds the attempts to forge one.
package struct Admission: Sendable {
    /// What an admission rests on.
    package enum Proof: Sendable {
        /// Nothing: the route requires nothing, or the request is a preflight.
        case open(OpenRoute)
        /// A verified access token.
        case token(Principal)
        /// The current secret of a live session.
        case session(Permit)
        /// A verified access token, and a live session of the same tenant and user.
        case tokenAndSession(Principal, Permit)
    }

    /// What the admission rests on.
    package let proof: Proof
    /// The caller's account, where the route needed it; nil for a caller without one.
    package let profile: CallerProfile?
    /// The lists of the route that the caller met; nil where it has none.
    package let allow: AllowRules?

    init(_ proof: Proof, _ profile: CallerProfile? = nil, _ terms: AccessTerms? = nil) {
        self.proof = proof
        self.profile = profile
        self.allow = terms?.allow
    }

    /// Who the access token speaks for; nil where none was asked for.
    package var principal: Principal? {
        switch proof {
        case .token(let principal), .tokenAndSession(let principal, _): principal
        case .open, .session: nil
        }
    }

    /// The session that was opened; nil where none was asked for.
    package var permit: Permit? {
        switch proof {
        case .session(let permit), .tokenAndSession(_, let permit): permit
        case .open, .token: nil
        }
    }

    /// Whether nothing was asked for: then the caller is unknown, and nothing ends early.
    package var isOpen: Bool {
        if case .open = proof { true } else { false }
    }
}

/// Permission for any caller to pass. Only two things give it: a route that requires nothing, and a preflight.
package struct OpenRoute: Sendable {
    /// Why no credential was asked for.
    package enum Reason: Sendable {
        /// `require: none`.
        case requiresNothing
        /// A CORS preflight, which browsers send without credentials; the upstream answers it.
        case preflight
    }

    /// Why no credential was asked for.
    package let reason: Reason

    init(_ reason: Reason) { self.reason = reason }
}
