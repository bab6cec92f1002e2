/// Families of refresh tokens.
package protocol FamilyStore: Sendable {
    /// - Throws: `.ownerGone` when the account or client it is opened for is no longer as it was judged.
    func insert(family: FamilyRecord, judged: JudgedOwner) async throws
    func family(id: String) async throws -> FamilyRecord?
    /// The family a refresh token (by SHA-256) belongs or ever belonged to, with the token's position in the chain.
    func family(tokenHash: [UInt8]) async throws -> (family: FamilyRecord, position: Int64)?
    /// Replaces a live family if its stored counter is still `record.counter - 1`, and remembers `currentHash` as a
    /// token of it.
    /// - Returns: whether it was replaced: exactly one of any number of racers wins.
    func rotate(family record: FamilyRecord) async throws -> Bool
    /// Notes that a live family has an access token that is good until then, signed with the key of this thumbprint.
    /// Never takes anything back.
    /// - Returns: whether the family is live.
    func extend(familyID: String, tokenExpiresAt: Milliseconds, key: String?) async throws -> Bool
    /// In one transaction: the family ended, its access tokens revoked at least until `revokedUntil`, its home and guest
    /// sessions ended. Harmless when it has ended before.
    /// - Returns: the ids of the sessions that ended.
    func endFamily(id: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> [String]
    /// Live families of a user, oldest first.
    func liveFamilies(userID: String) async throws -> [FamilyRecord]
}
