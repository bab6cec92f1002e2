/// The role for families of refresh tokens.
package protocol FamilyStore: Sendable {
    /// Inserts a family.
    /// - Throws: `.ownerGone` if the account or client has changed since it was checked.
    func insert(family: FamilyRecord, judged: JudgedOwner) async throws
    /// The family with this id, or nil.
    func family(id: String) async throws -> FamilyRecord?
    /// The family that a refresh token (by its SHA-256) belongs or belonged to, with the token's position in the chain.
    func family(tokenHash: [UInt8]) async throws -> (family: FamilyRecord, position: Int64)?
    /// Replaces a live family if its stored counter is `record.counter - 1`, and stores `currentHash` as a token of the
    /// family.
    /// - Returns: whether it was replaced. Of several concurrent calls, exactly one succeeds.
    func rotate(family record: FamilyRecord) async throws -> Bool
    /// Records that a live family has an access token that is valid until then, signed with the key of this thumbprint.
    /// An earlier time than the recorded one has no effect.
    /// - Returns: whether the family is live.
    func extend(familyID: String, tokenExpiresAt: Milliseconds, key: String?) async throws -> Bool
    /// Reports to every node that a token of another issuer, valid until then, extends what older ones of this origin
    /// opened in a session. Nothing is stored.
    /// - Parameter origin: issuer and subject, as base64url.
    func report(extensionOf sessionID: String, origin: String, tokenExpiresAt: Milliseconds) async throws
    /// Ends the family and its home and guest sessions, and revokes its access tokens at least until `revokedUntil`,
    /// all in one transaction. It may be called again for an ended family.
    /// - Returns: the ids of the sessions that ended.
    func endFamily(id: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> [String]
    /// As ``endFamily(id:at:revokedUntil:)``, because one of its tokens was used twice.
    func endReusedFamily(id: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> [String]
    /// Live families of a user, oldest first.
    func liveFamilies(userID: String) async throws -> [FamilyRecord]
    /// Live families of sign-ins through this identity provider in this session of its own, oldest first.
    func liveFamilies(provider: String, providerSession: String) async throws -> [FamilyRecord]
}
