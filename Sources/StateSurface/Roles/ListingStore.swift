/// The role for lists that operators page through. A page is found by the key of the entry before it, so the last page
/// costs as much as the first.
package protocol ListingStore: Sendable {
    /// Live sessions in the order of their ids, beginning after `id`, at most `limit`.
    /// - Parameters:
    ///   - id: the id of the last session of the page before; empty for the first page.
    ///   - userID: only sessions of this user; nil for all.
    func liveSessions(
        after id: String, userID: String?, now: Milliseconds, limit: Int
    ) async throws -> [SessionListing]
    /// The users who have granted something to a client, or whose consent is remembered, in the order of their ids,
    /// beginning after `userID`.
    func grantingUsers(after userID: String, limit: Int) async throws -> [String]
}
