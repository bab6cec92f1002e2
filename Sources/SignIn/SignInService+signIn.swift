import Encodings
import Runtime
import SecurityGuard
import StateSurface
import TrafficCop

extension SignInService {
    /// The live session of a secret, for a sign-in.
    ///
    /// The previous secret is accepted for some seconds, so that the owner can repeat a sign-in whose answer was lost,
    /// and that the slower of two concurrent sign-ins gets a conflict.
    /// - Parameters:
    ///   - current: the session with this current secret, if known.
    ///   - named: the session id that the caller gave. A secret of another session is not accepted for it.
    package func target(
        secretHash: [UInt8], current: SessionSnapshot?, named: String?
    ) async throws -> SignInTarget? {
        var session = current
        if session == nil { session = try await runtime.loginTarget(secretHash: secretHash)?.session }
        guard let session else { return nil }
        if let named, !named.hasSameBytes(as: session.id) { return nil }
        return SignInTarget(session: session, secretHash: secretHash)
    }

    /// Signs in an authenticated account: upgrades, resumes or creates a session, replaces its secret, and creates a
    /// family of refresh tokens whose home it is. In the same transaction, the family that was at home there before
    /// ends, and so do sessions over the user's limit. The method of authentication makes no difference, except that what a
    /// provider has ended by then does not begin.
    ///
    /// - Parameters:
    ///   - target: the session to sign in on; nil to create a new one.
    ///   - named: the session id that the caller gave. If it is not the target's, it is not used, which is recorded in
    ///     the audit log.
    /// - Throws: `SessionFault` `.conflict` if the session belongs to another account, or was changed since it was
    ///   looked up; `AuthError` `.invalidCredentials` if the account was disabled or got another password since it was
    ///   checked, or the provider has ended what the sign-in begins with; `Denial`; the store's errors.
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
        // Both ids are made before the records are written, because each record names the other.
        let familyID = securityGuard.newFamilyID(for: account)
        let opening = try runtime.prepare(
            contract, for: intent, secretHash: plan.target?.secretHash ?? [], familyID: familyID,
            expectedEpoch: plan.target?.session.epoch)
        let family = try securityGuard.prepareFamily(
            familyID, for: account, binding: opening.sessionID,
            signIn: proved.facts ?? SignInFacts(authenticatedAt: securityGuard.now))
        let session = try await AuditContext.$method.withValue(proved.method.name) {
            try await write(family, opening, proved)
        }
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
        case ended(ProviderOrigin)
    }

    private func write(
        _ family: FamilyOpening, _ opening: SessionOpening, _ proved: ProvedAccount
    ) async throws -> IssuedSession {
        let outcome: Outcome
        do {
            let familyEnd = securityGuard.familyEnd()
            let userID = proved.account.userID
            let now = securityGuard.now
            outcome = try await transact { transaction in
                // First, because what the provider has ended leaves nothing to write.
                if let origin = proved.origin, try origin.hasEnded(in: transaction, now: now) { return .ended(origin) }
                try transaction.takeTurnToOpenSession(of: userID, limit: runtime.sessionsPerUser)
                let write: SessionWrite
                switch try opening.change.decide(in: transaction) {
                case .refuse(let refusal): return .refused(refusal)
                case .leave: return .refused(SessionRefusal(.conflict))
                case .write(let decided): write = decided
                }
                var endings = Endings(familyEnd)
                // Rows are locked in one order everywhere: the account, its families, their sessions.
                try family.insert(in: transaction)
                let former = try transaction.families(of: userID, atHomeIn: opening.sessionID)
                    .filter { !$0.id.hasSameBytes(as: family.familyID) }
                try write.write(in: transaction)
                for family in former { try endings.endFamily(family.id, reason: "resumed", in: transaction) }
                let surplus = try transaction.surplusSessions(
                    userID: userID, sparing: opening.sessionID, limit: runtime.sessionsPerUser)
                try endings.end(surplus, runtime, in: transaction)
                return .written(write, endings)
            }
        } catch let error as StateSurfaceError where error.code == .ownerGone {
            throw securityGuard.changedMeanwhile(proved.account)
        }
        switch outcome {
        case .refused(let refusal):
            runtime.report(refusal)
            // The session has ended or got a new secret since it was looked up, by a concurrent request.
            throw refusal.fault.code == .mismatch ? SessionFault(.conflict) : refusal.fault
        case .ended(let origin):
            throw endedByProvider(origin)
        case .written(let write, let endings):
            securityGuard.report(family, method: proved.method.auditReason)
            let session = runtime.issued(opening, write)
            endings.report(to: securityGuard, runtime)
            return session
        }
    }
}
