/// The role for personal access tokens.
package protocol PersonalTokenStore: Sendable {
    /// Stores a token with its family, if the user has fewer than `limit` live ones.
    /// - Returns: whether it was stored.
    /// - Throws: `.ownerGone` if the account has changed since it was judged.
    func insert(
        personalToken record: PersonalTokenRecord, family: FamilyRecord, judged: JudgedOwner, limit: Int
    ) async throws -> Bool
    /// The token with this hash and its family, live or not; nil if there is none.
    func personalToken(hash: [UInt8]) async throws -> (token: PersonalTokenRecord, family: FamilyRecord)?
    /// The user's tokens whose families are live, oldest first.
    func personalTokens(userID: String) async throws -> [(token: PersonalTokenRecord, family: FamilyRecord)]
}
