import StateSurface

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
