import Libcrypto
import OAuth
import StateSurface

/// Families of refresh tokens. Each token works once and has one successor, also with concurrent requests, and reuse
/// ends the family.
struct RefreshFamilies: Sendable {
    let state: any AccountStore & FamilyStore
    let policy: TokenPolicy
    let issuer: TokenIssuer
    let revocations: Revocations
    let clock: @Sendable () -> Int64
    let audit: AuditSink

    /// Prepares a family for an account that has just authenticated. Nothing is written.
    func prepare(
        _ id: String, _ account: AccountRecord, clientID: String, binding: String?, signIn: SignInFacts?
    ) throws -> FamilyOpening {
        let now = clock()
        let token = RefreshToken.random()
        let family = FamilyRecord(
            id: id, tenantID: account.tenantID, userID: account.userID,
            clientID: clientID, scope: account.scope, binding: binding, createdAt: now,
            absoluteExpiresAt: now + policy.refreshTokenLifetime, currentHash: token.hash,
            signIn: signIn ?? SignInFacts(authenticatedAt: now))
        return FamilyOpening(
            record: family, judged: JudgedOwner(credentialEpoch: account.credentialEpoch),
            tokens: try tokens(of: family, account, scope: account.scope, refresh: token, now: now))
    }

    /// Uses a refresh token. See ``SecurityGuard/refresh(_:clientID:narrowing:judging:commit:)``.
    func refresh(
        _ text: String, clientID: String?, narrowing: [String]?, judging: (FamilyRecord) throws -> Void,
        commit: (RefreshWrite) async throws -> RefreshWritten
    ) async throws -> RefreshOutcome {
        guard let token = RefreshToken(text) else { return refused(.unknown, nil) }
        let hash = token.hash
        // A call that loses the compare-and-set reads again and finds that its token is the previous one. More rounds
        // are needed only if others rotate again, after which this token counts as reused.
        for _ in 0..<4 {
            let now = clock()
            guard let (family, position) = try await state.family(tokenHash: hash) else {
                return refused(.unknown, nil)
            }
            try judging(family)
            let decision = RefreshDecision.decide(
                family, position: position, presented: hash, clientID: clientID, grace: policy.refreshGrace, now: now)
            switch decision {
            case .refuse(let reason): return refused(reason, family)
            case .reuse: return try await endReused(family)
            case .repeat:
                guard let account = try await account(of: family) else { return refused(.account, family) }
                let scope = try await currentScope(of: family, account, narrowing)
                return try await repeated(token, family, account, scope: scope, now: now, commit)
            case .rotate:
                guard let account = try await account(of: family) else { return refused(.account, family) }
                let scope = try await currentScope(of: family, account, narrowing)
                let outcome = try await rotated(token, family, account, scope: scope, now: now, commit)
                if let outcome { return outcome }
            }
        }
        return refused(.contended, nil)
    }

    /// Rotates the token; nil if a concurrent call was faster.
    private func rotated(
        _ token: RefreshToken, _ family: FamilyRecord, _ account: AccountRecord, scope: [String], now: Int64,
        _ commit: (RefreshWrite) async throws -> RefreshWritten
    ) async throws -> RefreshOutcome? {
        let salt = SecureRandom.bytes(32)
        let successor = token.successor(salt: salt)
        var next = family
        next.previousHash = family.currentHash
        next.currentHash = successor.hash
        next.successorSalt = salt
        next.rotatedAt = now
        next.counter = family.counter + 1
        // The token is made before the write, which reports its lifetime to every node, so that a later end of the
        // family revokes it as well.
        let tokens = try tokens(of: next, account, scope: scope, refresh: successor, now: now)
        next.tokenExpiresAt = max(tokens.principal.expiresAt, family.tokenExpiresAt ?? .min)
        next.tokenKey = tokens.principal.keyThumbprint
        switch try await commit(RefreshWrite(family: next, isRotation: true)) {
        case .lost: return nil
        case .ended(let refusal): return .refused(refusal)
        case .done:
            report(.familyRotated, next)
            return .rotated(tokens)
        }
    }

    private func repeated(
        _ token: RefreshToken, _ family: FamilyRecord, _ account: AccountRecord, scope: [String], now: Int64,
        _ commit: (RefreshWrite) async throws -> RefreshWritten
    ) async throws -> RefreshOutcome {
        guard let salt = family.successorSalt else { return try await endReused(family) }
        let successor = token.successor(salt: salt)
        guard ConstantTime.equal(successor.hash, family.currentHash) else { return try await endReused(family) }
        let tokens = try tokens(of: family, account, scope: scope, refresh: successor, now: now)
        // The key may have changed since the rotation, and sockets of the family depend on the new one.
        var extended = family
        extended.tokenExpiresAt = tokens.principal.expiresAt
        extended.tokenKey = tokens.principal.keyThumbprint
        switch try await commit(RefreshWrite(family: extended, isRotation: false)) {
        case .lost: return refused(.ended, family)
        case .ended(let refusal): return .refused(refusal)
        case .done:
            report(.familyRepeated, family)
            return .repeated(tokens)
        }
    }

    private func endReused(_ family: FamilyRecord) async throws -> RefreshOutcome {
        let reason = RefreshDecision.Reason.reused.rawValue
        let end = end()
        let sessions = try await state.endReusedFamily(
            id: family.id, at: end.at, revokedUntil: end.revokedUntil)
        report(endOf: family.id, end, reason: reason)
        report(.familyReused, family, reason: reason)
        return .refused(RefreshRefusal(reason: reason, endedFamily: family.id, endedSessions: sessions))
    }

    func end() -> FamilyEnd {
        let now = clock()
        return FamilyEnd(at: now, revokedUntil: now + policy.tokenReach)
    }

    /// Adds a family's revocation to memory. The feed may have done so already, which does no harm.
    func report(endOf id: String, _ end: FamilyEnd, reason: String) {
        revocations.insert(Revocation(kind: .family, id: id, expiresAt: end.revokedUntil))
        audit(AuditEvent(.familyEnded, reason: reason, familyID: id))
    }

    /// The account of a family; nil if it can no longer be used.
    private func account(of family: FamilyRecord) async throws -> AccountRecord? {
        guard let account = try await state.account(userID: family.userID), !account.disabled,
            sameBytes(account.tenantID, family.tenantID)
        else { return nil }
        return account
    }

    /// The part of the family's scope that the account still has.
    /// - Parameter narrowing: the scopes that were asked for, if fewer. They count only for the token of a resource.
    func currentScope(
        of family: FamilyRecord, _ account: AccountRecord, _ narrowing: [String]?
    ) async throws -> [String] {
        guard family.resource != nil else { return family.scope.filter { Scope.contains(account.scope, $0) } }
        var scope: [String] = []
        for token in family.scope where narrowing.map({ Scope.contains($0, token) }) ?? true {
            if try await mayHave(account, scope: token) { scope.append(token) }
        }
        return scope
    }

    func tokens(
        of family: FamilyRecord, _ account: AccountRecord, scope: [String], refresh: RefreshToken, now: Int64
    ) throws -> IssuedTokens {
        let request = TokenIssuer.Request(
            tenantID: family.tenantID, subject: family.userID, clientID: family.clientID, scope: scope,
            familyID: family.id, resource: family.resource, signIn: family.signIn, profile: CallerProfile(account))
        let (text, principal) = try issuer.issue(request, now: now)
        return IssuedTokens(
            accessToken: text, expiresIn: (principal.expiresAt - principal.issuedAt) / 1000,
            refreshToken: refresh.text, familyID: family.id, principal: principal)
    }

    private func refused(_ reason: RefreshDecision.Reason, _ family: FamilyRecord?) -> RefreshOutcome {
        if let family {
            report(.familyRefused, family, reason: reason.rawValue)
        } else {
            audit(AuditEvent(.familyRefused, reason: reason.rawValue))
        }
        return .refused(RefreshRefusal(reason: reason.rawValue, endedFamily: nil, endedSessions: []))
    }

    func report(_ name: AuditEvent.Name, _ family: FamilyRecord, reason: String = "") {
        audit(
            AuditEvent(
                name, reason: reason, tenantID: family.tenantID, subject: family.userID, clientID: family.clientID,
                familyID: family.id))
    }
}
