import Answers
import SecurityGuard

/// The gate's decision on a request that it does not refuse.
package enum GateVerdict {
    /// Memory has admitted the request.
    case admitted(Admission)
    /// Memory does not know: the store has to be asked before the request can be refused.
    case askStore(StoreQuestion)
}

/// A question to the store that an admission depends on. Asked off the event loop.
package struct StoreQuestion: Sendable {
    private let ask: @Sendable () async throws -> Admission
    /// The personal access token that the question is about; nil for another question.
    var personalToken: [UInt8]?
    /// The account that the answer needs, where it is known beforehand, and those among which it will be looked for.
    private let account: (userID: String, profiles: CallerProfiles)?

    init(
        account: (userID: String, profiles: CallerProfiles)?, _ ask: @escaping @Sendable () async throws -> Admission
    ) {
        self.account = account
        self.ask = ask
    }

    /// Reads the accounts that several questions need in one go, so that each finds its own in memory. Questions that
    /// are asked meanwhile wait for it.
    package static func readAccounts(of questions: some Sequence<StoreQuestion>) async {
        let accounts = questions.compactMap { $0.account }
        guard accounts.count > 1, let profiles = accounts.first?.profiles else { return }
        await profiles.load(contentsOf: accounts.filter { $0.profiles === profiles }.map { $0.userID })
    }

    /// Asks the store. Only ``Gate/confirm(_:opensSocket:)`` makes an admission of its answer.
    ///
    /// - Throws: the refusal; `store_unavailable` where the store did not answer.
    package func answer() async throws(Problem) -> UnconfirmedAdmission {
        do {
            return UnconfirmedAdmission(try await ask())
        } catch {
            throw Problem.from(error)
        }
    }
}
