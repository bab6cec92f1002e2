/// A personal access token. What it may do and how long it is valid is in its family, which has no refresh token.
package struct PersonalTokenRecord: Sendable, Equatable {
    /// SHA-256 of the token.
    package var hash: [UInt8]
    /// The id for people, `ptk_…`.
    package var id: String
    /// Whose it is.
    package var userID: String
    /// The family.
    package var familyID: String
    /// The name that its owner gave it.
    package var name: String
    /// When it ends.
    package var expiresAt: Milliseconds

    /// - Parameter expiresAt: when its family ends, too.
    package init(
        hash: [UInt8], id: String, userID: String, familyID: String, name: String, expiresAt: Milliseconds
    ) {
        self.hash = hash
        self.id = id
        self.userID = userID
        self.familyID = familyID
        self.name = name
        self.expiresAt = expiresAt
    }
}
