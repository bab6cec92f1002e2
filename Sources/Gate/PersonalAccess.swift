import Answers
import AuthorizationServer
import EdgeConfiguration
import SecurityGuard

/// Personal access tokens at the gate: they count on routes that require a token and nothing else, and at the decision
/// endpoint.
enum PersonalAccess {
    /// Whether a bearer token has the prefix of a personal access token.
    static func isMeant(by token: some Collection<UInt8>) -> Bool { token.starts(with: PersonalToken.prefix.utf8) }

    /// Whether personal access tokens count for these terms.
    static func counts(for terms: AccessTerms) -> Bool { terms.requirement == .token }
}

extension Gate {
    /// Admits a personal access token that the store has confirmed within the last minute, or asks the store.
    func admit(
        personalToken token: [UInt8], _ credentials: PresentedCredentials, _ terms: AccessTerms, opensSocket: Bool
    ) throws(Problem) -> GateVerdict {
        if let principal = memory.tokens.remembered(token, now: memory.now(), resource: terms.resource) {
            return try admit(principal, credentials, terms, opensSocket: opensSocket)
        }
        let judge = memory.judgePersonalToken
        let asked = storeAdmission(terms)
        let verdict = try askStore {
            let principal = try await judge(token).mapError { Problem($0) }.get()
            return try await asked.admit(principal, credentials)
        }
        guard case .askStore(var question) = verdict else { return verdict }
        question.personalToken = token
        return .askStore(question)
    }

    /// Keeps what the store has said about a personal access token, so that it is not asked again for each request.
    /// An answer that is not confirmed may be kept: whether a token is revoked is judged anew when it is remembered.
    package func remember(_ answer: UnconfirmedAdmission, answering question: StoreQuestion) {
        guard let token = question.personalToken, let principal = answer.admission.principal else { return }
        memory.tokens.keep(personalToken: token, principal, now: memory.now())
    }
}
