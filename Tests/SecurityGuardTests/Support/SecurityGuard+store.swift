import StateSurface

@testable import SecurityGuard

/// What use cases do with a guard, over the store that the guard has: without sessions, and each write by itself.
extension SecurityGuard {
    func openFamily(for account: AccountRecord, home binding: String? = nil) async throws -> IssuedTokens {
        let opening = try prepareFamily(newFamilyID(for: account), for: account, binding: binding)
        do {
            try await state.insert(family: opening.record, judged: opening.judged)
        } catch let error as StateSurfaceError where error.code == .ownerGone {
            throw changedMeanwhile(account)
        }
        report(opening, method: "")
        return opening.tokens
    }

    func refresh(_ refreshToken: String, clientID: String? = nil) async throws -> RefreshOutcome {
        let state = state
        let judge: (FamilyRecord) throws -> Void = { _ in }
        return try await refresh(refreshToken, clientID: clientID, judging: judge) { write in
            let family = write.family
            let isWritten =
                write.isRotation
                ? try await state.rotate(family: family)
                : try await state.extend(
                    familyID: family.id, tokenExpiresAt: family.tokenExpiresAt ?? 0, key: family.tokenKey)
            return isWritten ? .done : .lost
        }
    }

    func endFamily(_ id: String) async throws -> [String] {
        let end = familyEnd()
        let sessions = try await state.endFamily(id: id, at: end.at, revokedUntil: end.revokedUntil)
        report(endOfFamily: id, end)
        return sessions
    }

    func revoke(token principal: Principal) async throws {
        let revocation = revocation(of: principal)
        try await state.revoke(revocation)
        report(revocation, of: principal)
    }

    func revoke(presented text: String, by client: ClientRecord) async throws {
        switch try await revocable(presented: text, by: client) {
        case nil: break
        case .family(let id): _ = try await endFamily(id)
        case .accessToken(let principal): try await revoke(token: principal)
        }
    }

    func changePassword(
        userID: String, current: String, new: String, keepFamily: String? = nil, keepSession: String? = nil
    ) async throws -> [String] {
        let password = try await preparePassword(userID: userID, current: current, new: new)
        var change = password.change
        change.keptFamilyID = keepFamily
        change.keptSessionID = keepSession
        let ended = try await state.changePassword(change)
        report(password)
        return ended
    }
}
