import StateSurface

/// The result of using a refresh token. Clients see the same refusal in all cases; its details are for the audit log
/// and for closing sockets.
package enum RefreshOutcome: Sendable {
    /// A new pair of tokens. The presented token is used up.
    case rotated(IssuedTokens)
    /// The same refresh token that was issued before and not used, with a new access token.
    case repeated(IssuedTokens)
    case refused(RefreshRefusal)
}

/// The refusal of a refresh token.
package struct RefreshRefusal: Sendable, Equatable {
    /// The reason, for the audit log and `errors.explain` only.
    package let reason: String
    /// The family that was ended, because a used token was presented or the home session has ended; otherwise nil.
    package let endedFamily: String?
    /// The ids of the sessions that ended with it, whose sockets must close.
    package let endedSessions: [String]

    package init(reason: String, endedFamily: String?, endedSessions: [String]) {
        self.reason = reason
        self.endedFamily = endedFamily
        self.endedSessions = endedSessions
    }
}

/// The write of a refresh, whose tokens have been signed.
package struct RefreshWrite: Sendable {
    let family: FamilyRecord
    let isRotation: Bool

    /// The family.
    package var familyID: String { family.id }
    /// The owner's tenant.
    package var tenantID: String { family.tenantID }
    /// The owner.
    package var userID: String { family.userID }
    /// When the family ends regardless of refreshes.
    package var absoluteExpiresAt: Int64 { family.absoluteExpiresAt }
    /// The id of the family's home session.
    package var binding: String? { family.binding }

    /// Whether it is what a person granted to a client. Its home is then the session in which the person did so, which
    /// is at home with a family of its own.
    package var isGrant: Bool { family.resource != nil }

    /// Writes the refresh.
    /// - Returns: false if a concurrent refresh was faster, or the family has ended.
    package func write(in transaction: any StoreTransaction) throws -> Bool {
        if isRotation { return try transaction.rotate(family: family) }
        guard let tokenExpiresAt = family.tokenExpiresAt else { return false }
        return try transaction.extend(familyID: family.id, tokenExpiresAt: tokenExpiresAt, key: family.tokenKey)
    }
}

/// The outcome of a ``RefreshWrite``.
package enum RefreshWritten: Sendable {
    /// It is durable.
    case done
    /// Nothing was written, because a concurrent refresh was faster or the family has ended.
    case lost
    /// The family was ended instead.
    case ended(RefreshRefusal)
}
