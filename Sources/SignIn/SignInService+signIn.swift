import Encodings
import Runtime
import SecurityGuard
import StateSurface
import TrafficCop

/// An account that was proved, and how.
package struct ProvedAccount: Sendable {
    /// How an account can be proved.
    package enum Method: Sendable, Equatable {
        case password
        /// By a token of this trusted issuer.
        case issuer(String)

        /// What the audit log says of it: nothing for a password.
        fileprivate var auditReason: String {
            switch self {
            case .password: ""
            case .issuer: "issuer_token"
            }
        }
    }

    /// The account as it was judged. It is signed in only while it is still that.
    package let account: AccountRecord
    package let method: Method

    package init(_ account: AccountRecord, by method: Method) {
        self.account = account
        self.method = method
    }
}

/// A live session that a sign-in is about, and the secret that opens it.
///
/// It is looked up before the account is proved: of two sign-ins racing for one anonymous session the slower one is then
/// told of the conflict, instead of finding its secret outdated.
package struct SignInTarget: Sendable {
    let session: SessionSnapshot
    let secretHash: [UInt8]

    package init(session: SessionSnapshot, secretHash: [UInt8]) {
        self.session = session
        self.secretHash = secretHash
    }
}

/// What a sign-in did to which session.
package enum SignInPlan: Sendable {
    /// An anonymous session got its owner: same id, new secret.
    case upgrade(SignInTarget)
    /// The owner's session got a new family: same id, new secret, next epoch; the family that was at home there is dead.
    case resume(SignInTarget)
    /// A new session was made.
    case create

    /// The word for it: `upgraded`, `resumed`, `created`.
    package var word: String {
        switch self {
        case .upgrade: "upgraded"
        case .resume: "resumed"
        case .create: "created"
        }
    }

    fileprivate var target: SignInTarget? {
        switch self {
        case .upgrade(let target), .resume(let target): target
        case .create: nil
        }
    }

    fileprivate var intentKind: SessionIntent.Kind {
        switch self {
        case .upgrade: .upgrade
        case .resume: .resume
        case .create: .authenticated
        }
    }
}

/// What came of a sign-in: tokens of a new family, and the session that it is at home in.
package struct SignedIn: Sendable {
    package let account: AccountRecord
    package let tokens: IssuedTokens
    package let session: IssuedSession
    package let plan: SignInPlan

    package var userID: String { account.userID }
    package var tenantID: String { account.tenantID }
}

extension SignInService {
    /// The live session that a secret names for a sign-in.
    ///
    /// The secret before the current one counts for some seconds: its owner may repeat a sign-in whose answer was lost,
    /// and the loser of a race for the session is told so.
    /// - Parameters:
    ///   - current: the session whose current secret this is, where that is known.
    ///   - named: the id that the caller named beside it. The secret of another session proves nothing about that one.
    package func target(
        secretHash: [UInt8], current: SessionSnapshot?, named: String?
    ) async throws -> SignInTarget? {
        var session = current
        if session == nil { session = try await runtime.loginTarget(secretHash: secretHash)?.session }
        guard let session else { return nil }
        if let named, !named.hasSameBytes(as: session.id) { return nil }
        return SignInTarget(session: session, secretHash: secretHash)
    }

    /// Signs in whoever was proved to own an account, whichever way that was proved: a session is upgraded, resumed or
    /// made, its secret rotated, and a family of refresh tokens opened that is at home in it. Both are written in one
    /// transaction, with the end of whatever family was at home there and of the sessions that the user has too many of.
    ///
    /// - Parameters:
    ///   - target: the session it is about; without one a new session is made.
    ///   - named: a session id that the caller named. One that is not the target's is never adopted; that it was named
    ///     is noted in the audit log.
    /// - Throws: `SessionFault` `.conflict` when the session belongs to another account, or was changed since it was
    ///   looked up; `AuthError` `.invalidCredentials` when the account was disabled or got another password since it was
    ///   proved; `Denial`; the store's errors.
    package func signIn(
        _ proved: ProvedAccount, target: SignInTarget?, named: String? = nil, clientAddress: String
    ) async throws -> SignedIn {
        let account = proved.account
        let plan = try plan(target, account)
        if let named, target == nil {
            let isKnown = try await runtime.knows(sessionID: named)
            runtime.note(
                .notAdopted, sessionID: named, reason: isKnown ? "secret_missing_or_wrong" : "session_id_unknown")
        }
        let intent = SessionIntent(
            kind: plan.intentKind, clientAddress: clientAddress, sessionID: plan.target?.session.id,
            tenantID: account.tenantID, userID: account.userID)
        let contract = try trafficCop.prepare(intent).get()
        // The family's id is known before it is written, and so is the session's: each names the other.
        let familyID = securityGuard.newFamilyID(for: account)
        let opening = try runtime.prepare(
            contract, for: intent, secretHash: plan.target?.secretHash ?? [], familyID: familyID,
            expectedEpoch: plan.target?.session.epoch)
        let family = try securityGuard.prepareFamily(familyID, for: account, binding: opening.sessionID)
        let session = try await write(family, opening, proved)
        return SignedIn(account: account, tokens: family.tokens, session: session, plan: plan)
    }

    private func plan(_ target: SignInTarget?, _ account: AccountRecord) throws -> SignInPlan {
        guard let target else { return .create }
        guard target.session.state == .authenticated else { return .upgrade(target) }
        guard target.session.isOwned(tenantID: account.tenantID, userID: account.userID) else {
            throw SessionFault(.conflict)
        }
        return .resume(target)
    }

    private enum Outcome: Sendable {
        case written(SessionWrite, Endings)
        case refused(SessionRefusal)
    }

    private func write(
        _ family: FamilyOpening, _ opening: SessionOpening, _ proved: ProvedAccount
    ) async throws -> IssuedSession {
        let outcome: Outcome
        do {
            let familyEnd = securityGuard.familyEnd()
            let userID = proved.account.userID
            outcome = try await transact { transaction in
                let write: SessionWrite
                switch try opening.change.decide(in: transaction) {
                case .refuse(let refusal): return .refused(refusal)
                case .leave: return .refused(SessionRefusal(.conflict))
                case .write(let decided): write = decided
                }
                var endings = Endings(familyEnd)
                // Rows are taken in one order everywhere: the account, its families, their sessions.
                try family.insert(in: transaction)
                let former = try transaction.families(of: userID, atHomeIn: opening.sessionID)
                    .filter { !$0.id.hasSameBytes(as: family.familyID) }
                try write.write(in: transaction)
                for family in former { try endings.endFamily(family.id, in: transaction) }
                let surplus = try transaction.surplusSessions(
                    userID: userID, sparing: opening.sessionID, limit: runtime.policy.perUser)
                try endings.end(surplus, runtime, in: transaction)
                return .written(write, endings)
            }
        } catch let error as StateSurfaceError where error.code == .ownerGone {
            throw securityGuard.changedMeanwhile(proved.account)
        }
        switch outcome {
        case .refused(let refusal):
            runtime.report(refusal)
            // Dead or given a new secret since it was looked up: another caller was faster.
            throw refusal.fault.code == .mismatch ? SessionFault(.conflict) : refusal.fault
        case .written(let write, let endings):
            securityGuard.report(family, method: proved.method.auditReason)
            let session = runtime.issued(opening, write)
            endings.report(to: securityGuard, runtime)
            return session
        }
    }
}

extension Endings {
    /// Ends what a user has beyond the limit: a home with its family, a guest alone.
    mutating func end(
        _ surplus: [SurplusSession], _ runtime: Runtime, in transaction: any StoreTransaction
    ) throws {
        for session in surplus {
            if let familyID = session.homeOf {
                try endFamily(familyID, in: transaction)
            } else {
                let change = runtime.ending(sessionID: session.id, proof: nil)
                _ = try end(change, reason: "too_many_sessions", in: transaction)
            }
        }
    }
}
