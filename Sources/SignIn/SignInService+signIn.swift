import Encodings
import Runtime
import SecurityGuard
import StateSurface
import TrafficCop

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

    /// Signs in a proved account, the same whichever way it was proved: a session is upgraded, resumed or made, its secret
    /// rotated, and a family of refresh tokens opened that is at home in it. Both are written in one transaction, with the
    /// end of the family that was at home there before, and of the sessions that the user has too many of.
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
                for family in former { try endings.endFamily(family.id, reason: "resumed", in: transaction) }
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
