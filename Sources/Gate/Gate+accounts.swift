import EdgeConfiguration
import SecurityGuard

/// The accounts of callers, from memory.
extension Gate {
    /// What memory says of a caller's account.
    enum KnownAccount {
        /// All that the terms need; nil where they need nothing, or the caller has no account.
        case known(CallerProfile?)
        /// The store has to be asked.
        case askStore
    }

    /// Whether a subject is a user, who has an account, and not a client.
    static func hasAccount(_ subject: String) -> Bool { subject.utf8.starts(with: Prefix.user.utf8) }

    /// The account of the caller of a token; see ``account(of:_:)``.
    func account(of principal: Principal, _ terms: AccessTerms) -> KnownAccount {
        guard terms.readsAccount, principal.isUser else { return .known(nil) }
        return knownAccount(principal.subject, terms)
    }

    /// The account of a session's owner.
    ///
    /// While the store is silent, a profile from before goes on being used, like a session or a verified token. A caller
    /// whose profile is not in memory then passes without one, unless a rule depends on it.
    func account(of userID: String?, _ terms: AccessTerms) -> KnownAccount {
        guard terms.readsAccount, let userID, Self.hasAccount(userID) else { return .known(nil) }
        return knownAccount(userID, terms)
    }

    private func knownAccount(_ userID: String, _ terms: AccessTerms) -> KnownAccount {
        let isSilent = memory.storeHealth != .current
        switch memory.profiles.known(userID) {
        case .current(let profile): return .known(profile)
        case .doubtful(let profile): return isSilent ? .known(profile) : .askStore
        case .unknown: return isSilent && terms.allow?.readsAccount != true ? .known(nil) : .askStore
        }
    }
}
