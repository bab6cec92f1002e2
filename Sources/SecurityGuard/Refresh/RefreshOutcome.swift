import StateSurface

/// What came of a refresh token. Callers see one refusal; the difference is for the audit log and the sockets.
package enum RefreshOutcome: Sendable {
    /// A new pair; the token presented is used up.
    case rotated(IssuedTokens)
    /// The pair's refresh token is the one that was given before, still unused; the access token is new.
    case repeated(IssuedTokens)
    case refused(RefreshRefusal)
}

package struct RefreshRefusal: Sendable, Equatable {
    /// For the audit log and `errors.explain` only.
    package let reason: String
    /// The family that ended with the refusal: a used token came back, or its home session is no more.
    package let endedFamily: String?
    /// The sessions that ended with it: their sockets have to close.
    package let endedSessions: [String]

    package init(reason: String, endedFamily: String?, endedSessions: [String]) {
        self.reason = reason
        self.endedFamily = endedFamily
        self.endedSessions = endedSessions
    }
}

/// What a refresh has to write, decided and signed.
package struct RefreshWrite: Sendable {
    let family: FamilyRecord
    let isRotation: Bool

    package var familyID: String { family.id }
    package var tenantID: String { family.tenantID }
    package var userID: String { family.userID }
    /// When the family ends, however often it is refreshed.
    package var absoluteExpiresAt: Int64 { family.absoluteExpiresAt }
    /// The family's home session.
    package var binding: String? { family.binding }

    /// Writes it.
    /// - Returns: false when another refresh was faster, or the family has ended.
    package func write(in transaction: any StoreTransaction) throws -> Bool {
        if isRotation { return try transaction.rotate(family: family) }
        guard let tokenExpiresAt = family.tokenExpiresAt else { return false }
        return try transaction.extend(familyID: family.id, tokenExpiresAt: tokenExpiresAt, key: family.tokenKey)
    }
}

/// What came of a ``RefreshWrite``.
package enum RefreshWritten: Sendable {
    /// It is durable.
    case done
    /// Another refresh was faster, or the family has ended: nothing was written.
    case lost
    /// The family was ended instead.
    case ended(RefreshRefusal)
}
