import StateSurface

/// A family that is about to be opened: its tokens are made, nothing is written.
package struct FamilyOpening: Sendable {
    let record: FamilyRecord
    let judged: JudgedOwner
    package let tokens: IssuedTokens

    package var familyID: String { record.id }

    /// Writes it.
    /// - Throws: `StateSurfaceError.ownerGone` when the account is no longer as it was judged; the store's errors.
    package func insert(in transaction: any StoreTransaction) throws {
        try transaction.insert(family: record, judged: judged)
    }
}

/// The end of a family: from when, and until when its access tokens have to be remembered as revoked.
package struct FamilyEnd: Sendable {
    let at: Int64
    let revokedUntil: Int64

    /// Ends a family, its access tokens, its home session and its guests. Harmless when it has ended before.
    /// - Returns: the sessions that ended.
    package func end(_ familyID: String, in transaction: any StoreTransaction) throws -> [String] {
        try transaction.endFamily(id: familyID, at: at, revokedUntil: revokedUntil)
    }
}
