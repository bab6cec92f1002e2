import Libcrypto
import StateSurface

/// The chains of refresh tokens: one use each, one successor whatever the concurrency, and the end for all on reuse.
struct RefreshFamilies: Sendable {
    let state: any StateSurface
    let policy: TokenPolicy
    let issuer: TokenIssuer
    let revocations: Revocations
    let clock: @Sendable () -> Int64
    let audit: AuditSink

    /// Begins a family for someone whose password was just proved.
    func open(_ account: AccountRecord, clientID: String, binding: String?) async throws -> IssuedTokens {
        let now = clock()
        let token = RefreshToken.random()
        let family = FamilyRecord(
            id: FamilyID.make(accountVersion: account.version), tenantID: account.tenantID, userID: account.userID,
            clientID: clientID,
            scope: account.scope, binding: binding, createdAt: now,
            absoluteExpiresAt: now + policy.refreshTokenLifetime, currentHash: token.hash)
        do {
            try await state.insert(family: family, judged: JudgedOwner(credentialEpoch: account.credentialEpoch))
        } catch let error as StateSurfaceError where error.code == .ownerGone {
            // Disabled, or given another password, since this one was proved.
            audit(
                AuditEvent(
                    .loginRefused, reason: "changed_meanwhile", tenantID: account.tenantID, subject: account.userID))
            throw AuthError(.invalidCredentials)
        }
        report(.familyOpened, family)
        return try tokens(of: family, scope: account.scope, refresh: token, now: now)
    }

    /// Uses a refresh token.
    func refresh(_ text: String, clientID: String?) async throws -> RefreshOutcome {
        guard let token = RefreshToken(text) else { return refused(.unknown, nil) }
        let hash = token.hash
        // A racer that loses the compare-and-set looks again and finds itself the predecessor. More rounds are only
        // needed when others go on rotating meanwhile, and those make this token a reused one.
        for _ in 0..<4 {
            let now = clock()
            guard let (family, position) = try await state.family(tokenHash: hash) else {
                return refused(.unknown, nil)
            }
            let decision = RefreshDecision.decide(
                family, position: position, presented: hash, clientID: clientID, grace: policy.refreshGrace, now: now)
            switch decision {
            case .refuse(let reason): return refused(reason, family)
            case .reuse: return try await endReused(family)
            case .repeat:
                guard let scope = try await currentScope(of: family) else { return refused(.account, family) }
                return try await repeated(token, family, scope: scope, now: now)
            case .rotate:
                guard let scope = try await currentScope(of: family) else { return refused(.account, family) }
                if let outcome = try await rotated(token, family, scope: scope, now: now) { return outcome }
            }
        }
        return refused(.contended, nil)
    }

    /// nil when another racer was faster.
    private func rotated(
        _ token: RefreshToken, _ family: FamilyRecord, scope: [String], now: Int64
    ) async throws -> RefreshOutcome? {
        let salt = SecureRandom.bytes(32)
        let successor = token.successor(salt: salt)
        var next = family
        next.previousHash = family.currentHash
        next.currentHash = successor.hash
        next.successorSalt = salt
        next.rotatedAt = now
        next.counter = family.counter + 1
        // Made before the write, which tells every node how long it lasts: a family that ended after it revokes this
        // token as well.
        let tokens = try tokens(of: next, scope: scope, refresh: successor, now: now)
        next.tokenExpiresAt = max(tokens.principal.expiresAt, family.tokenExpiresAt ?? .min)
        next.tokenKey = tokens.principal.keyThumbprint
        guard try await state.rotate(family: next) else { return nil }
        report(.familyRotated, next)
        return .rotated(tokens, binding: next.binding)
    }

    private func repeated(
        _ token: RefreshToken, _ family: FamilyRecord, scope: [String], now: Int64
    ) async throws -> RefreshOutcome {
        guard let salt = family.successorSalt else { return try await endReused(family) }
        let successor = token.successor(salt: salt)
        guard ConstantTime.equal(successor.hash, family.currentHash) else { return try await endReused(family) }
        let tokens = try tokens(of: family, scope: scope, refresh: successor, now: now)
        // The key may have been changed since the rotation: what the family has open rests on the new one.
        let isLive = try await state.extend(
            familyID: family.id, tokenExpiresAt: tokens.principal.expiresAt, key: tokens.principal.keyThumbprint)
        guard isLive else { return refused(.ended, family) }
        report(.familyRepeated, family)
        return .repeated(tokens, binding: family.binding)
    }

    private func endReused(_ family: FamilyRecord) async throws -> RefreshOutcome {
        let sessions = try await end(family.id, reason: RefreshDecision.Reason.reused.rawValue)
        report(.familyReused, family, reason: RefreshDecision.Reason.reused.rawValue)
        return .refused(
            RefreshRefusal(
                reason: RefreshDecision.Reason.reused.rawValue, endedFamily: family.id, endedSessions: sessions))
    }

    /// Ends a family with its access tokens and sessions. Harmless when it has ended before.
    func end(_ id: String, reason: String) async throws -> [String] {
        let now = clock()
        let until = now + policy.tokenReach
        let sessions = try await state.endFamily(id: id, at: now, revokedUntil: until)
        revocations.insert(Revocation(kind: .family, id: id, expiresAt: until))
        audit(AuditEvent(.familyEnded, reason: reason, familyID: id))
        return sessions
    }

    /// What the user may still do of what the login was for; nil when the account can't be used any more.
    private func currentScope(of family: FamilyRecord) async throws -> [String]? {
        guard let account = try await state.account(userID: family.userID), !account.disabled,
            sameBytes(account.tenantID, family.tenantID)
        else { return nil }
        return family.scope.filter { Scope.contains(account.scope, $0) }
    }

    private func tokens(
        of family: FamilyRecord, scope: [String], refresh: RefreshToken, now: Int64
    ) throws -> IssuedTokens {
        let request = TokenIssuer.Request(
            tenantID: family.tenantID, subject: family.userID, clientID: family.clientID, scope: scope,
            familyID: family.id)
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

    private func report(_ name: AuditEvent.Name, _ family: FamilyRecord, reason: String = "") {
        audit(
            AuditEvent(
                name, reason: reason, tenantID: family.tenantID, subject: family.userID, clientID: family.clientID,
                familyID: family.id))
    }
}
