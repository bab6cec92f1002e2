import StateSurface

/// A prepared family: its tokens have been made, and nothing has been written.
package struct FamilyOpening: Sendable {
    let record: FamilyRecord
    let judged: JudgedOwner
    /// The access token and the refresh token.
    package let tokens: IssuedTokens

    /// The id of the family.
    package var familyID: String { record.id }

    /// Writes the family.
    /// - Throws: `StateSurfaceError.ownerGone` if the account has changed since it was checked; the store's errors.
    package func insert(in transaction: any StoreTransaction) throws {
        try transaction.insert(family: record, judged: judged)
    }
}

/// The end of a family: its time, and the time until which its access tokens are kept as revoked.
package struct FamilyEnd: Sendable {
    /// The time, in Unix milliseconds.
    package let at: Int64
    /// Until when its access tokens are kept as revoked.
    package let revokedUntil: Int64

    /// Ends a family, its access tokens, its home session and its guests. It may be called again for an ended family.
    /// - Returns: the ids of the sessions that ended.
    package func end(_ familyID: String, in transaction: any StoreTransaction) throws -> [String] {
        try transaction.endFamily(id: familyID, at: at, revokedUntil: revokedUntil)
    }
}
