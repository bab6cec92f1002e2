import Encodings
import IdentityProviders
import SecurityGuard
import StateSurface

/// What an identity provider ended: one of its sessions, or all of a person's.
extension SignInService {
    /// Does what a verified logout token of a provider says (OpenID Connect Back-Channel Logout 1.0 section 2.7).
    ///
    /// The end is remembered before families are looked for, so that a sign-in that is being written meanwhile is
    /// refused or found. The token is remembered last: one that met a failing store may come again. A person may have
    /// any number of families, so each ends in a transaction of its own.
    ///
    /// - Returns: whether the token was obeyed; false for one that was obeyed before.
    /// - Throws: the store's errors. What has ended until then stays ended.
    package func backchannelLogOut(_ token: LogoutToken, of provider: ProviderConfiguration) async throws -> Bool {
        let memory = ProviderMemory(store: store, clock: { [securityGuard] in securityGuard.now })
        guard try await !memory.knows(token.replay) else { return false }
        try await memory.noteEnd(of: token.target, issuedAt: token.issuedAt, ofProvider: provider.name)
        _ = try await endSessions(ofProvider: provider.name, issuer: provider.issuer, target: token.target)
        try await memory.remember(token.replay)
        return true
    }

    /// Ends what signing in through a provider began, as a logout token of its says: the families with their access
    /// tokens, homes and guests, each family in one transaction.
    ///
    /// For a session of the provider's (`sid`) these are the families of that session. Where the token names the person,
    /// too, families of the person that know of no session are among them: the provider did not say which it was.
    ///
    /// ``backchannelLogOut(_:of:)`` calls it after ``ProviderMemory/noteEnd(of:issuedAt:ofProvider:)``, without which a
    /// sign-in that is being written is neither found here nor refused.
    ///
    /// - Returns: how many families ended.
    /// - Throws: the store's errors. What has ended until then stays ended, and the provider can send the token again.
    package func endSessions(
        ofProvider name: String, issuer: String, target: LogoutToken.Target
    ) async throws -> Int {
        var families: [FamilyRecord] = []
        let subject: String?
        switch target {
        case .session(let session, let person):
            families = try await store.liveFamilies(provider: name, providerSession: session)
            subject = person
        case .subject(let person): subject = person
        }
        if let subject {
            for userID in try await store.userIDs(issuer: issuer, subject: subject) {
                families += try await store.liveFamilies(userID: userID).filter { family in
                    guard let facts = family.signIn, facts.provider?.hasSameBytes(as: name) == true else {
                        return false
                    }
                    if case .subject = target { return true }
                    return facts.providerSession == nil
                }
            }
        }
        for family in families { try await end(family) }
        return families.count
    }

    private func end(_ family: FamilyRecord) async throws {
        let familyEnd = securityGuard.familyEnd()
        let endings = try await transact { transaction in
            var endings = Endings(familyEnd)
            try endings.endFamily(family.id, reason: "provider_logout", in: transaction)
            return endings
        }
        endings.report(to: securityGuard, runtime)
    }

    /// The name of the provider through which the owner of a family signed in; nil if it was another way.
    package func provider(ofFamily id: String) async throws -> String? {
        try await store.family(id: id)?.signIn?.provider
    }
}
